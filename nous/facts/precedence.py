"""Whether one fact may take the place of another: that goes by what they are about, and by whose word they are."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, Self
from uuid import UUID

from nous.domain.episode import Trust
from nous.domain.errors import BadInput, NotFound
from nous.domain.fact import Fact, LinkKind, Superseded
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.judge import Known, Linked, Neighbour, New, Richer, Supersedes, Verdict, verdicts
from nous.facts.normalize import subject_form
from nous.facts.verdict import Policy


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


class Said(NamedTuple):
    """A fact, when it was said first and last, and the trust in whoever said it."""

    fact: Fact
    first: datetime
    last: datetime
    trust: Trust

    @classmethod
    def of(cls, known: KnownFact) -> Self:
        return cls(known.fact, known.valid_from, known.said_at, known.trust)


def outdated(one: Said, other: Said, verdict: Supersedes, *, at: datetime) -> tuple[Fact, Superseded]:
    """Which of two that contradict each other is the past, and the row that says so: the one that was said earlier.

    Of two that were said at once it is the one that is doubted, or else *one*, which was learned before the *other*.
    """
    past, by = sorted((one, other), key=lambda each: (each.last, not each.trust.is_doubted))
    return past.fact, _row(past, by, reason=verdict.reason, at=at, similarity=verdict.similarity)


def superseding(old_id: UUID, *, by: UUID, knowledge: Knowledge, reason: str, at: datetime) -> Superseded:
    """The row by which a person says that *old_id* was true until *by* was said. Raises what `replaceable` raises."""
    old, new = replaceable(old_id, by=by, knowledge=knowledge)
    return replace(_row(Said.of(old), Said.of(new), reason=reason, at=at), by_hand=True)


def replaceable(old_id: UUID, *, by: UUID, knowledge: Knowledge) -> tuple[KnownFact, KnownFact]:
    """The facts *old_id* and *by*, of which the latter may take the place of the former.

    Raises:
        NotFound: there is no such fact.
        BadInput: it has given way already, would give way to itself, or a person keeps the two apart.
    """
    old, new = _fact(old_id, knowledge), _fact(by, knowledge)
    if old.superseded:
        raise BadInput(f"fact {old_id} has given way to {old.superseded.by} already")
    if new.superseded:
        raise BadInput(f"fact {by} has given way to {new.superseded.by} itself: name what is current")
    if old_id in (each.fact.id for each in knowledge.successors(by)):
        raise BadInput(f"fact {by} has given way to {old_id}, or is the same; it cannot take its place")
    if link := knowledge.apart_from(old_id).get(by) or knowledge.apart_from(by).get(old_id):
        since = f"{link.at:%Y-%m-%d}: `nous facts unsettle` first"
        raise BadInput(f"facts {link.fact_id} and {link.other} are kept apart since {since}")
    return old, new


def _row(past: Said, by: Said, *, reason: str, at: datetime, similarity: float | None = None) -> Superseded:
    """*past* was true until *by* was said, or for as long as it was said itself if that was later."""
    valid_to = max(past.last, by.first)
    return Superseded(
        fact_id=past.fact.id, by=by.fact.id, reason=reason, at=at, similarity=similarity, valid_to=valid_to
    )


def _fact(fact_id: UUID, knowledge: Knowledge) -> KnownFact:
    known = knowledge.get(fact_id)
    if known is None:
        raise NotFound(f"there is no fact {fact_id}")
    return known
