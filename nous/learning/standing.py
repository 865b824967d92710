"""Whether one fact may take the place of another: that goes by what they are about, and by whose word they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from nous.episode import Trust
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

    The rules alone need the name of the subject; whoever understands the texts (*is_ruled*) does without.
    """
    barred: Linked | None = None
    for verdict in verdicts:
        if isinstance(verdict, New | Linked):
            return barred or verdict
        other = known[verdict.fact_id]
        objection = _distrust(verdict, claim, other) or _other_subject(verdict, claim, other, is_ruled=is_ruled)
        if objection is None:
            return verdict
        reason = f"{verdict.reason}; but {objection}"
        barred = barred or Linked(fact_id=verdict.fact_id, reason=reason, similarity=verdict.similarity)
    return barred or New()


def is_vouched_for(fact: KnownFact, trust: Trust) -> bool:
    """Whether somebody of this *trust* says first what only a tool or a page has said so far."""
    return fact.is_current and fact.trust.is_doubted and not trust.is_doubted


def corrected(
    fact: KnownFact, claim: Claim, near: Iterable[Neighbour], known: Knowledge, policy: Policy
) -> Supersedes | None:
    """What *fact* contradicts, and may take the place of, now that *claim* says it too."""
    passed = known.apart_from(fact.fact.id) | {fact.fact.id}
    others = [each for each in near if each.fact_id not in passed]
    namesakes = {each: said for each, said in known.namesakes(claim.subject).items() if each not in passed}
    found = (each for each in verdicts(fact.statement, others, policy, namesakes) if isinstance(each, Supersedes))
    verdict = settled(found, claim, known)
    return verdict if isinstance(verdict, Supersedes) else None


def _distrust(verdict: Known | Richer | Supersedes, claim: Claim, other: KnownFact) -> str | None:
    """Why the word of a tool or a page alone would take the place of a better one, if it would."""
    if claim.trust.is_doubted == other.trust.is_doubted:
        return None
    is_doubted = claim.trust.is_doubted
    match verdict:
        case Known():
            wins = verdict.is_less and not is_doubted
        case Richer():
            wins = is_doubted
        case Supersedes():
            wins = is_doubted == (claim.said_at >= other.said_at)
    return f"only a tool or a page says {'so' if is_doubted else 'the other'}" if wins else None


def _other_subject(
    verdict: Known | Richer | Supersedes, claim: Claim, other: KnownFact, *, is_ruled: bool
) -> str | None:
    """Why the two that contradict each other may be about two things, if they may."""
    mine, theirs = subject_form(claim.subject), subject_form(other.fact.subject)
    if not isinstance(verdict, Supersedes) or mine == theirs != "" or (is_ruled and not (mine and theirs)):
        return None
    if mine and theirs:
        return f"their subjects differ: about {mine} / about {theirs}"
    return "only one names its subject" if mine or theirs else "neither names its subject"
