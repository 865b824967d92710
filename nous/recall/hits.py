"""What a search finds, and what it may find."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from nous.episode import Category, Episode, Trust
from nous.learning.known import Knowledge, KnownFact


class Remembrance(StrEnum):
    FACT = "fact"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierValue:
    """A value that a fact had before, and the time until which it was true."""

    id: UUID
    text: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something remembered, where it is from, and what it was found by: `words: port, 8080`, `meaning: 0.61`.

    `date` is when it ended, or when the session that is named said it, the last that did; `event_date` when what it
    tells of happened, where that is known. `superseded_by` is what took the place of a fact that is no longer current,
    and `valid_to` until when it was true, if that is another value. `earlier` are the values before, latest first.
    """

    kind: Remembrance
    id: UUID
    text: str
    date: datetime
    event_date: str | None
    category: Category | None
    trust: Trust
    episode_id: UUID
    session_id: str
    turns: tuple[int, ...]
    superseded_by: UUID | None = None
    valid_to: datetime | None = None
    earlier: tuple[EarlierValue, ...] = ()
    score: float = 0.0
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be found. Empty collections and None let everything through; episodes have no category.

    `after` and `before` bound the date, neither included; `trust` is the least that is trusted.
    """

    kinds: Collection[Remembrance] = ()
    categories: Collection[Category] = ()
    after: datetime | None = None
    before: datetime | None = None
    trust: Trust | None = None

    def accepts(self, hit: Hit) -> bool:
        return (
            (not self.kinds or hit.kind in self.kinds)
            and (not self.categories or hit.category in self.categories)
            and (self.after is None or hit.date > self.after)
            and (self.before is None or hit.date < self.before)
            and (self.trust is None or _distance(hit.trust) <= _distance(self.trust))
        )


def _distance(trust: Trust) -> int:
    return list(Trust).index(trust)


def earlier_values(fact_id: UUID, knowledge: Knowledge) -> tuple[EarlierValue, ...]:
    """Return the values that a fact had before, latest first."""
    found = knowledge.earlier(fact_id)
    return tuple(EarlierValue(id=each.known.fact.id, text=each.known.fact.text, until=each.until) for each in found)


def hit_of(remembered: KnownFact | Episode) -> Hit:
    """*remembered* as a hit, which nothing has found yet."""
    return _of_episode(remembered) if isinstance(remembered, Episode) else _of_fact(remembered)


def _of_fact(known: KnownFact) -> Hit:
    fact, source = known.fact, known.latest
    return Hit(
        kind=Remembrance.FACT,
        id=fact.id,
        text=fact.text,
        date=known.said_at,
        event_date=fact.event_date,
        category=fact.category,
        trust=known.trust,
        episode_id=source.episode_id,
        session_id=source.session_id,
        turns=source.turns,
        superseded_by=known.superseded.by if known.superseded else None,
        valid_to=known.superseded.valid_to if known.superseded else None,
    )


def _of_episode(episode: Episode) -> Hit:
    return Hit(
        kind=Remembrance.EPISODE,
        id=episode.id,
        text=episode.summary.text,
        date=episode.ended_at,
        event_date=None,
        category=None,
        trust=Trust.ASSISTANT,
        episode_id=episode.id,
        session_id=episode.session_id,
        turns=(),
    )
