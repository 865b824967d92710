"""Whether one fact may take the place of another: that goes by what they are about, and by whose word they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from nous.episode import Trust
from nous.fact import LinkKind
from nous.learning.judge import Known, Linked, Neighbour, New, Richer, Supersedes, Verdict, verdicts
from nous.learning.known import Knowledge, KnownFact
from nous.learning.normalise import subject_form
from nous.learning.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What somebody says: about what, on whose word, and when."""

    subject: str
    trust: Trust
    said_at: datetime

    @classmethod
    def of(cls, fact: KnownFact) -> Self:
        return cls(subject=fact.fact.subject, trust=fact.trust, said_at=fact.said_at)


def settled(verdicts: Iterable[Verdict], claim: Claim, known: Knowledge, *, is_ruled: bool = False) -> Verdict:
    """The first of *verdicts* on *claim* that may stand; instead of new or linked, the first that may not, as a link.

    The word of a user needs no subject, since the texts were compared with what names them. Of others it does, unless
    a model has ruled on the texts (*is_ruled*).
    """
    barred: Linked | None = None
    for verdict in verdicts:
        if isinstance(verdict, New | Linked):
            return barred or verdict
        other = known[verdict.fact_id]
        distrust = _distrust(verdict, claim, other)
        objection = distrust or _other_subject(verdict, claim, other, is_ruled=is_ruled)
        if objection is None:
            return verdict
        is_update = isinstance(verdict, Supersedes)
        barred = barred or Linked(
            fact_id=verdict.fact_id,
            reason=f"{verdict.reason}; but {objection}",
            similarity=verdict.similarity,
            is_open=is_update and not distrust and not is_ruled,
            kind=LinkKind.UPDATE if is_update else LinkKind.RELATED,
        )
    return barred or New()


def is_vouched_for(fact: KnownFact, trust: Trust) -> bool:
    """Whether somebody of this *trust* says first what only a tool or a page has said so far."""
    return fact.is_current and fact.trust.is_doubted and not trust.is_doubted


def corrected(
    fact: KnownFact, claim: Claim, near: Iterable[Neighbour], known: Knowledge, policy: Policy
) -> Supersedes | None:
    """What *fact* contradicts, and may take the place of, now that *claim* says it too."""
    passed = {fact.fact.id, *known.apart_from(fact.fact.id)}
    others = [each for each in near if each.fact_id not in passed]
    namesakes = {each: said for each, said in known.namesakes(claim.subject).items() if each not in passed}
    found = (each for each in verdicts(fact.statement, others, policy, namesakes) if isinstance(each, Supersedes))
    verdict = settled(found, claim, known)
    return verdict if isinstance(verdict, Supersedes) else None


_RANKS = {Trust.USER: 0, Trust.SYSTEM: 1, Trust.ASSISTANT: 1, Trust.TOOL: 2, Trust.WEB: 2}


def _distrust(verdict: Known | Richer | Supersedes, claim: Claim, other: KnownFact) -> str | None:
    """Return the objection to an agent, a tool or a page taking the place of a more trusted source."""
    mine, theirs = _RANKS[claim.trust], _RANKS[other.trust]
    if isinstance(verdict, Supersedes):
        is_mine_worse = mine > theirs
        if mine == theirs or is_mine_worse != (claim.said_at >= other.said_at):
            return None
        who = "an agent" if max(mine, theirs) == _RANKS[Trust.ASSISTANT] else "a tool or a page"
        return f"only {who} says {'so' if is_mine_worse else 'the other'}"
    is_doubted = claim.trust.is_doubted
    if is_doubted == other.trust.is_doubted:
        return None
    wins = is_doubted if isinstance(verdict, Richer) else verdict.is_less and not is_doubted
    return f"only a tool or a page says {'so' if is_doubted else 'the other'}" if wins else None


def _other_subject(
    verdict: Known | Richer | Supersedes, claim: Claim, other: KnownFact, *, is_ruled: bool
) -> str | None:
    """Return the objection that two contradicting facts may be about two things."""
    mine, theirs = subject_form(claim.subject), subject_form(other.fact.subject)
    is_stated = claim.trust is Trust.USER and not is_ruled
    if not isinstance(verdict, Supersedes) or mine == theirs != "" or is_stated or (is_ruled and not (mine and theirs)):
        return None
    if mine and theirs:
        return f"their subjects differ: about {mine} / about {theirs}"
    return "only one names its subject" if mine or theirs else "neither names its subject"
