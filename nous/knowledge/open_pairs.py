"""List the open pairs of facts: possible duplicates and updates, not resolved yet."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from nous.domain.fact import Linked, LinkKind
from nous.knowledge.fact_index import FactIndex, KnownFact

OFFERED = frozenset({LinkKind.DUPLICATE, LinkKind.UPDATE})  # kinds of links that a person can resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPair:
    """Two current facts that may be one, or of which *newer* may supersede *older*."""

    newer: KnownFact
    older: KnownFact
    link: Linked


def open_pairs(knowledge: FactIndex) -> list[OpenPair]:
    """Return the unresolved pairs of current facts, likeliest first."""
    found = (pair for known in knowledge.current() for pair in open_pairs_of(known, knowledge))
    once = {frozenset({pair.newer.fact.id, pair.older.fact.id}): pair for pair in found}.values()
    return sorted(once, key=lambda each: (-(each.link.likelihood or 0), -(each.link.similarity or 0)))


def open_pairs_of(known: KnownFact, knowledge: FactIndex) -> Iterator[OpenPair]:
    """Yield the unresolved pairs of a fact, each once; it stands in for facts merged into it."""
    links = [(other, link) for other, link in knowledge.links_of(known.fact.id) if link.kind in OFFERED]
    seen = {known.fact.id, *(knowledge.apart_from(known.fact.id) if links else ())}
    for other_id, link in links:
        other = _now(other_id, knowledge)
        if other and other.fact.id not in seen:
            seen.add(other.fact.id)
            older, newer = sorted((other, known), key=lambda each: each.said_at)
            yield OpenPair(newer=newer, older=older, link=link)


def _now(fact_id: UUID, knowledge: FactIndex) -> KnownFact | None:
    """Return the current fact that a fact is or was merged into; None if it was contradicted."""
    for known in knowledge.successors(fact_id):
        if known.superseded is None:
            return known
        if known.superseded.valid_to:
            break
    return None
