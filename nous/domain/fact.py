"""Value types of facts, sources and fact-log rows, and pure functions on rows. No storage.

The current facts are a projection of the log (`nous.knowledge.fact_index`). Only an erasure or a redaction rewrites
it, so every other verdict can be read again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self
from uuid import UUID

from nous.domain.episode import Category, Trust
from nous.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Provenance of a statement: the turns of an episode, and the event that brought it.

    `said_at` is when the session ended, `digest` the sha256 of its transcript, `by` the extractor: a model with its
    prompt, or `extractive`. They are None in rows of older releases and for facts entered by hand. `trust` is the
    origin.
    """

    episode_id: UUID
    event_id: UUID
    session_id: str
    turns: tuple[int, ...]
    said_at: datetime | None = None
    digest: str | None = None
    by: str | None = None
    trust: Trust = Trust.ASSISTANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A known fact, in the words of its first source; its id derives from episode and text."""

    id: UUID
    scope: Scope
    text: str
    category: Category
    subject: str
    confidence: float
    source: Source
    learned_at: datetime
    event_date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A new fact; `embedded_by` is the id of the embedder that made its vector, if it has one."""

    fact: Fact
    reason: str
    embedded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """*fact_id* was stated again, as *text*, by another source.

    If a merge of the fact with these words, `merged_from`, does not hold, the row counts for that fact.
    """

    fact_id: UUID
    source: Source
    text: str
    reason: str
    at: datetime
    similarity: float | None = None
    merged_from: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """*fact_id* was superseded by *by* at the time *at*; it stays readable.

    `valid_to` is until when it was true, if *by* contradicts it. `by_hand` marks a user's decision. With `is_undone`,
    the row reverts that: *fact_id* is current again. It is a field and no row type of its own, so that older releases
    can read the log: for them, the two stay merged.
    """

    fact_id: UUID
    by: UUID
    reason: str
    at: datetime
    similarity: float | None = None
    valid_to: datetime | None = None
    by_hand: bool = False
    is_undone: bool = False


class LinkKind(StrEnum):
    """Relation of two facts that are both kept.

    `DUPLICATE`: they may say the same. `UPDATE`: the later one may replace the earlier one. `APART`: a user has decided
    that they are two.
    """

    RELATED = "related"
    DUPLICATE = "duplicate"
    UPDATE = "update"
    APART = "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """*fact_id* and *other* are similar, and *reason* says why both were kept.

    `likelihood`, between 0 and 1, is the probability that a possible duplicate says the same. Of several links between
    two facts the last one holds, unless a user keeps them apart; a later link `by_hand` of another kind reverts that.
    """

    fact_id: UUID
    other: UUID
    reason: str
    at: datetime
    similarity: float | None = None
    kind: LinkKind = LinkKind.RELATED
    likelihood: float | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """*fact_id* got a vector of another embedder, or its first, after it was learned."""

    fact_id: UUID
    embedded_by: str


Row = Learned | Confirmed | Superseded | Linked | Embedded


class Occurrence(NamedTuple):
    fact_id: UUID
    source: Source
    text: str


def occurrences(rows: Iterable[Row]) -> Iterator[Occurrence]:
    """Yield each statement of a fact, with its source and words, in the order of *rows*."""
    for row in rows:
        match row:
            case Learned(fact=fact):
                yield Occurrence(fact.id, fact.source, fact.text)
            case Confirmed():
                yield Occurrence(row.fact_id, row.source, row.text)
            case _:
                pass


def standing(rows: Iterable[Row]) -> Sequence[Row]:
    """Return the rows of a whole log without those that were reverted."""
    return tuple(row for row in in_force(tuple(rows)) if row)


def in_force(rows: Sequence[Row]) -> Sequence[Row | None]:
    """Return the effective form of each row of a whole log, None for a reverted one."""
    supersessions: dict[UUID, Superseded] = {}
    has_undone = False
    for row in rows:
        if isinstance(row, Superseded) and not row.is_undone:
            supersessions[row.fact_id] = row
        elif isinstance(row, Superseded):
            has_undone = True
            if row.fact_id in supersessions and supersessions[row.fact_id].by == row.by:
                del supersessions[row.fact_id]

    def now(row: Row) -> Row | None:
        match row:
            case Superseded():
                return row if not has_undone or supersessions.get(row.fact_id) is row else None
            case Confirmed(merged_from=UUID() as fact):
                return attributed(row, _line(fact, supersessions))
            case _:
                return row

    return [now(row) for row in rows]


def _line(fact: UUID, supersessions: Mapping[UUID, Superseded]) -> Sequence[UUID]:
    found = [fact]
    while (row := supersessions.get(found[-1])) and row.valid_to is None and row.by not in found:
        found.append(row.by)
    return found


def attributed(row: Confirmed, line: Collection[UUID]) -> Confirmed:
    """Return *row* attributed to the fact with its words, unless *line* leads to the other fact.

    *line* begins at the fact with these words, and contains the facts that it was merged into.
    """
    if row.merged_from is None or row.fact_id in line:
        return row
    return replace(row, fact_id=row.merged_from, merged_from=None)


def named(row: Row) -> frozenset[UUID]:
    """Return the facts from earlier rows that *row* refers to."""
    match row:
        case Learned():
            return frozenset()
        case Confirmed(fact_id=fact, merged_from=UUID() as merged):
            return frozenset({fact, merged})
        case Confirmed(fact_id=fact) | Embedded(fact_id=fact):
            return frozenset({fact})
        case Superseded(fact_id=one, by=other) | Linked(fact_id=one, other=other):
            return frozenset({one, other})


def bare(row: Row) -> Row:
    return replace(row, embedded_by=None) if isinstance(row, Learned) else row


def embedding(row: Row) -> tuple[UUID, str] | None:
    """Return the fact that *row* stores a vector for, and the embedder that made it."""
    match row:
        case Learned(fact=fact, embedded_by=str(embedder)):
            return fact.id, embedder
        case Embedded(fact_id=fact_id, embedded_by=embedder):
            return fact_id, embedder
        case _:
            return None


@dataclass(frozen=True, slots=True)
class LogVersion:
    """Version of a fact log, for optimistic concurrency.

    It has *n* rows, a hash chain that ends in *chain*, and the erasure epoch *epoch*. A count alone is not enough:
    after a power cut the log may be shorter and grow back to the same length with other rows. `vectors` counts those
    stored with the rows: an append puts its own after them.
    """

    n: int = 0
    chain: str = ""
    epoch: int = 0
    vectors: int = 0

    def __str__(self) -> str:
        return f"{self.n}:{self.chain}:{self.epoch}:{self.vectors}"

    @classmethod
    def parse(cls, text: str) -> Self:
        n, chain, epoch, vectors = text.split(":")
        return cls(int(n), chain, int(epoch), int(vectors))
