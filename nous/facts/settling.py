"""Possible duplicates and updates, and the rows by which a person settles them, or takes that back.

Pure, as `nous.facts.learn` is: each function says which rows to append to the log that *knowledge* is the fold of.
No rows mean that the log says so already.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Linked, LinkKind, Row, Superseded
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.precedence import replaceable

OFFERED = frozenset({LinkKind.DUPLICATE, LinkKind.UPDATE})
"""Kinds of links that a person can settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Two current facts that may be one, or of which the *newer* may replace the *older*."""

    newer: KnownFact
    older: KnownFact
    link: Linked


def offers(knowledge: Knowledge) -> list[Offer]:
    """The pairs of current facts that are not settled, the likeliest first."""
    found = (offer for known in knowledge.current() for offer in offers_of(known, knowledge))
    once = {frozenset({offer.newer.fact.id, offer.older.fact.id}): offer for offer in found}.values()
    return sorted(once, key=lambda each: (-(each.link.likelihood or 0), -(each.link.similarity or 0)))


def offers_of(known: KnownFact, knowledge: Knowledge) -> Iterator[Offer]:
    """The pairs of a current fact with others, each once. A fact stands for those that were merged into it."""
    links = [(other, link) for other, link in knowledge.links_of(known.fact.id) if link.kind in OFFERED]
    seen = {known.fact.id, *(knowledge.apart_from(known.fact.id) if links else ())}
    for other_id, link in links:
        other = _now(other_id, knowledge)
        if other and other.fact.id not in seen:
            seen.add(other.fact.id)
            older, newer = sorted((other, known), key=lambda each: each.said_at)
            yield Offer(newer=newer, older=older, link=link)


def _now(fact_id: UUID, knowledge: Knowledge) -> KnownFact | None:
    """Return the current fact that a fact is, or was merged into; None where it was true until some time."""
    for known in knowledge.successors(fact_id):
        if known.superseded is None:
            return known
        if known.superseded.valid_to:
            break
    return None


def merged(
    fact: KnownFact,
    into: KnownFact,
    *,
    reason: str,
    at: datetime,
    similarity: float | None = None,
    by_hand: bool = False,
) -> Iterator[Row]:
    """Merge *fact* into another: all sources of it have said the other, each in words of their own.

    The row that says so comes first, since the others count only while it holds.
    """
    yield Superseded(
        fact_id=fact.fact.id, by=into.fact.id, reason=reason, at=at, similarity=similarity, by_hand=by_hand
    )
    said = [
        (fact.fact.source, fact.fact.text, None),
        *((row.source, row.text, row.merged_from) for row in fact.confirmed),
    ]
    for source, text, merged_from in dict.fromkeys(said):
        yield Confirmed(
            fact_id=into.fact.id,
            source=source,
            text=text,
            reason=reason,
            at=at,
            similarity=similarity,
            merged_from=merged_from or fact.fact.id,
        )


def merging(fact: KnownFact, into: KnownFact, *, knowledge: Knowledge, reason: str, at: datetime) -> tuple[Row, ...]:
    """Merge *fact* into another by hand.

    Raises:
        BadInput: one of them is not current, or a person keeps them, or facts merged into them, apart.
    """
    gone = fact.superseded
    if gone and gone.by == into.fact.id and gone.valid_to is None:
        return ()
    replaceable(fact.fact.id, by=into.fact.id, knowledge=knowledge)
    return tuple(merged(fact, into, reason=reason, at=at, by_hand=True))


def keeping_apart(
    one: KnownFact, other: KnownFact, *, knowledge: Knowledge, reason: str, at: datetime
) -> tuple[Row, ...]:
    """Keep two facts apart for good.

    Raises:
        BadInput: one of them has given way to the other.
    """
    for gone, by in ((one, other), (other, one)):
        if gone.superseded and knowledge.leads_to(gone.fact.id, by.fact.id):
            raise BadInput(f"fact {gone.fact.id} has given way to {gone.superseded.by}: `nous facts unsettle` first")
    link = one.standing_links.get(other.fact.id)
    if link and link.kind is LinkKind.APART:
        return ()
    return (_link(one, other, reason=reason, at=at, kind=LinkKind.APART, before=link),)


def unsettling(one: KnownFact, other: KnownFact, *, reason: str, at: datetime, **_: Knowledge) -> tuple[Row, ...]:
    """Undo that one of two facts was merged into the other or gave way to it, or else that they are kept apart."""
    for gone, by in ((one, other), (other, one)):
        if gone.superseded and gone.superseded.by == by.fact.id:
            row = Superseded(fact_id=gone.fact.id, by=by.fact.id, reason=reason, at=at, by_hand=True, is_undone=True)
            return (row,)
    link = one.standing_links.get(other.fact.id)
    if link is None or link.kind is not LinkKind.APART:
        return ()
    judged = [each for each in one.links if one.other_of(each) == other.fact.id and not each.by_hand]
    before = judged[-1] if judged else None
    kind = before.kind if before else LinkKind.RELATED
    return (_link(one, other, reason=reason, at=at, kind=kind, before=before),)


def _link(
    one: KnownFact, other: KnownFact, *, reason: str, at: datetime, kind: LinkKind, before: Linked | None
) -> Linked:
    """A link by hand, between the same ends as the one *before*."""
    return Linked(
        fact_id=before.fact_id if before else one.fact.id,
        other=before.other if before else other.fact.id,
        reason=reason,
        at=at,
        similarity=before.similarity if before else None,
        kind=kind,
        likelihood=before.likelihood if before and kind is not LinkKind.APART else None,
        by_hand=True,
    )
