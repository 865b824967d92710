"""Collect a fact's provenance: its sources, quotes from their turns, and related facts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nous.domain.episode import Episode, Quote
from nous.domain.fact import Linked, LinkKind, Source, Superseded
from nous.domain.fact import named as facts_of
from nous.domain.scope import Scope
from nous.knowledge.fact_index import FactIndex, KnownFact

Editions = Callable[[Scope, UUID], Sequence[Episode]]
"""Reader of the editions of an episode, the current one first."""

GAVE_WAY = "gave way to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One statement of a fact: wording, source, verdict, and the words of the turns behind it.

    `quotes` are those that the model gave, or the sentence from which rules made it.
    """

    text: str
    source: Source
    at: datetime
    reason: str
    similarity: float | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedFact:
    """A successor, predecessor or similar fact, and why; `by_hand` if a person said so."""

    relation: str
    fact_id: UUID
    text: str
    reason: str
    at: datetime
    valid_to: datetime | None = None
    by_hand: bool = False
    likelihood: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    known: KnownFact
    tellings: tuple[Evidence, ...]
    relatives: tuple[RelatedFact, ...]


def provenance_of(fact_id: UUID, knowledge: FactIndex, editions: Editions) -> Provenance:
    """Return the sources of a fact and its relations. Raises `KeyError` if there is none."""
    known = knowledge[fact_id]
    tellings, relatives = tuple(_tellings(known, editions)), tuple(_relatives(known, knowledge))
    return Provenance(known=known, tellings=tellings, relatives=relatives)


def _tellings(known: KnownFact, editions: Editions) -> Iterator[Evidence]:
    fact = known.fact
    first = fact.text, fact.source, fact.learned_at, known.reason, None
    again = ((row.text, row.source, row.at, row.reason, row.similarity) for row in known.confirmed)
    for text, source, at, reason, similarity in (first, *again):
        stated = (each for edition in editions(fact.scope, source.episode_id) for each in edition.candidate_facts)
        quotes = next((each.quotes for each in stated if each.text == text and each.quotes), ())
        yield Evidence(text=text, source=source, at=at, reason=reason, similarity=similarity, quotes=quotes)


def _relatives(known: KnownFact, knowledge: FactIndex) -> Iterator[RelatedFact]:
    gone = (known.superseded,) if known.superseded else ()
    for row in (*known.replaces, *gone, *known.undone, *known.links):
        [other] = facts_of(row) - {known.fact.id}
        fact = knowledge.get(other)
        is_link = isinstance(row, Linked)
        yield RelatedFact(
            relation=_of_link(row, known, fact) if is_link else _of_succession(row, known),
            fact_id=other,
            text=fact.fact.text if fact else "(a fact that is not there any more)",
            reason=row.reason,
            at=row.at,
            valid_to=None if is_link else row.valid_to,
            by_hand=row.by_hand,
            likelihood=row.likelihood if is_link else None,
        )


def _of_succession(row: Superseded, known: KnownFact) -> str:
    if row.is_undone:
        return "was separated again from"
    is_old, is_past = row.fact_id == known.fact.id, row in known.undone
    if row.by_hand and row.valid_to is None:
        return f"{'had been' if is_past else 'was'} merged {'into' if is_old else 'with'}"
    if is_past:
        return "had given way to" if is_old else "had taken the place of"
    return GAVE_WAY if is_old else "took the place of"


def _of_link(link: Linked, known: KnownFact, other: KnownFact | None) -> str:
    match link.kind:
        case LinkKind.APART:
            is_standing = known.standing_links[known.other_of(link)] is link
            return "is kept apart from" if is_standing else "had been kept apart from"
        case _ if link.by_hand:
            return "is no longer kept apart from"
        case LinkKind.DUPLICATE:
            return "may say the same as"
        case LinkKind.UPDATE:
            return "may be replaced by" if other and other.said_at > known.said_at else "may replace"
        case LinkKind.RELATED:
            return "is kept beside"
