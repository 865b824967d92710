"""One fact in the place of another, because somebody says so."""

from datetime import datetime
from uuid import UUID

from nous.errors import BadInput, NotFound
from nous.fact import Superseded
from nous.learning.known import Knowledge, KnownFact


def superseding(old_id: UUID, *, by: UUID, knowledge: Knowledge, reason: str, at: datetime) -> Superseded:
    """The row that says that *old_id* was true until *by* was said.

    Raises:
        NotFound: there is no such fact.
        BadInput: it has given way already, or would give way to itself.
    """
    old, new = _fact(old_id, knowledge), _fact(by, knowledge)
    if old.superseded:
        raise BadInput(f"fact {old_id} has given way to {old.superseded.by} already")
    if old_id in _successors(new, knowledge):
        raise BadInput(f"fact {by} has given way to {old_id}, or is the same; it cannot take its place")
    return Superseded(fact_id=old_id, by=by, reason=reason, at=at, valid_to=max(new.valid_from, old.valid_from))


def _fact(fact_id: UUID, knowledge: Knowledge) -> KnownFact:
    known = knowledge.get(fact_id)
    if known is None:
        raise NotFound(f"there is no fact {fact_id}")
    return known


def _successors(known: KnownFact, knowledge: Knowledge) -> set[UUID]:
    """The fact, what took its place, and so on."""
    found = {known.fact.id}
    while known.superseded and known.superseded.by not in found:
        known = knowledge[known.superseded.by]
        found.add(known.fact.id)
    return found
