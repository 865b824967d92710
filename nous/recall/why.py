"""How a fact is known: who said it, where, in which words, and what was made of it since."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nous.brief import Brief
from nous.fact import Source
from nous.learning.known import Knowledge, KnownFact
from nous.recall.quotes import quoted

GAVE_WAY = "gave way to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One time that a fact was said: as what, by whom, what was made of it, and lines of the turns it rests on.

    `quotes` begin with those that have most of its words. There are none where the episode's brief is gone, or shows
    none of the turns.
    """

    text: str
    source: Source
    at: datetime
    reason: str
    similarity: float | None
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """Another fact that this one stands to in some way, and why: it took its place, gave way to it, or is like it."""

    relation: str
    fact_id: UUID
    text: str
    reason: str
    at: datetime
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All that is to be said for a fact."""

    known: KnownFact
    tellings: tuple[Telling, ...]
    relatives: tuple[Relative, ...]


def grounds(fact_id: UUID, knowledge: Knowledge, brief: Callable[[UUID], Brief | None]) -> Grounds:
    """How *knowledge* comes to hold the fact; *brief* gives what an episode was made from.

    Raises:
        KeyError: there is no such fact.
    """
    known = knowledge[fact_id]
    return Grounds(known=known, tellings=tuple(_tellings(known, brief)), relatives=tuple(_relatives(known, knowledge)))


def _tellings(known: KnownFact, brief: Callable[[UUID], Brief | None]) -> Iterator[Telling]:
    fact = known.fact
    yield Telling(
        text=fact.text,
        source=fact.source,
        at=fact.learned_at,
        reason=known.reason,
        similarity=None,
        quotes=_quotes(fact.text, fact.source, brief),
    )
    for row in known.confirmed:
        quotes = _quotes(row.text, row.source, brief)
        yield Telling(
            text=row.text, source=row.source, at=row.at, reason=row.reason, similarity=row.similarity, quotes=quotes
        )


def _quotes(text: str, source: Source, brief: Callable[[UUID], Brief | None]) -> tuple[str, ...]:
    """What the turns of *source* say of *text*, as far as the summarizer was shown it."""
    found = brief(source.episode_id) if source.turns else None
    return quoted(text, (passage for passage in found.passages if passage.turn in source.turns)) if found else ()


def _relatives(known: KnownFact, knowledge: Knowledge) -> Iterator[Relative]:
    fact_id = known.fact.id
    for row in known.replaces:
        yield Relative(
            relation="took the place of",
            fact_id=row.fact_id,
            text=_text(knowledge, row.fact_id),
            reason=row.reason,
            at=row.at,
            valid_to=row.valid_to,
        )
    if row := known.superseded:
        yield Relative(
            relation=GAVE_WAY,
            fact_id=row.by,
            text=_text(knowledge, row.by),
            reason=row.reason,
            at=row.at,
            valid_to=row.valid_to,
        )
    for link in known.links:
        other = link.other if link.fact_id == fact_id else link.fact_id
        text = _text(knowledge, other)
        yield Relative(relation="is kept beside", fact_id=other, text=text, reason=link.reason, at=link.at)


def _text(knowledge: Knowledge, fact_id: UUID) -> str:
    other = knowledge.get(fact_id)
    return other.fact.text if other else "(a fact that is not there any more)"


def named(name: str, knowledge: Knowledge) -> Sequence[KnownFact]:
    """The facts whose id begins with *name*, as it is written or without its hyphens."""
    wanted = name.casefold().replace("-", "")
    return [known for known in knowledge if known.fact.id.hex.startswith(wanted)] if wanted else []
