"""One fact in the place of another: which of the two is the past, and until when it was true."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Self
from uuid import UUID

from nous.episode import Trust
from nous.errors import BadInput, NotFound
from nous.fact import Fact, Superseded
from nous.learning.judge import Supersedes
from nous.learning.known import Knowledge, KnownFact


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
