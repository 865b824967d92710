"""Build fact-log rows to merge two facts or keep them apart, and to undo this or an update.

No I/O: each function returns the rows to append to the log that *knowledge* is the projection of. No rows mean that the
log says so already. `unsettling` undoes a decision.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Linked, LinkKind, Row, Superseded
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.precedence import check_replaceable


def merged(
    fact: KnownFact,
    into: KnownFact,
    *,
    reason: str,
    at: datetime,
    similarity: float | None = None,
    by_hand: bool = False,
) -> Iterator[Row]:
    """Merge *fact* into another, sources and wordings too; the supersession comes first."""
    yield Superseded(
        fact_id=fact.fact.id, by=into.fact.id, reason=reason, at=at, similarity=similarity, by_hand=by_hand
    )
    own = fact.fact
    said = [
        (own.source, own.text, own.id),
        *((row.source, row.text, row.merged_from or own.id) for row in fact.confirmed),
    ]
    for source, text, merged_from in dict.fromkeys(said):
        yield Confirmed(
            fact_id=into.fact.id,
            source=source,
            text=text,
            reason=reason,
            at=at,
            similarity=similarity,
            merged_from=merged_from,
        )


def merging(fact: KnownFact, into: KnownFact, *, knowledge: FactIndex, reason: str, at: datetime) -> tuple[Row, ...]:
    """Merge *fact* into another by hand. Raises what `check_replaceable` raises."""
    gone = fact.superseded
    if gone and gone.by == into.fact.id and gone.valid_to is None:
        return ()
    check_replaceable(fact, into, knowledge)
    return tuple(merged(fact, into, reason=reason, at=at, by_hand=True))


def keeping_apart(
    one: KnownFact, other: KnownFact, *, knowledge: FactIndex, reason: str, at: datetime
) -> tuple[Row, ...]:
    """Keep two facts apart for good. Raises `BadInput` if one was superseded by the other."""
    for gone, by in ((one, other), (other, one)):
        if gone.superseded and knowledge.leads_to(gone.fact.id, by.fact.id):
            raise BadInput(f"fact {gone.fact.id} is superseded by {gone.superseded.by}: `nous facts unsettle` first")
    link = one.standing_links.get(other.fact.id)
    if link and link.kind is LinkKind.APART:
        return ()
    return (_link(one, other, reason=reason, at=at, kind=LinkKind.APART, before=link),)


def unsettling(one: KnownFact, other: KnownFact, *, reason: str, at: datetime, **_: FactIndex) -> tuple[Row, ...]:
    """Undo the merge or supersession of two facts, or else the decision to keep them apart."""
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
    link = before or Linked(fact_id=one.fact.id, other=other.fact.id, reason=reason, at=at)
    likelihood = None if kind is LinkKind.APART else link.likelihood
    return replace(link, reason=reason, at=at, kind=kind, likelihood=likelihood, by_hand=True)
