"""What is known, and from where.

A scope's knowledge is an append-only log of rows. What is current is a fold over it (`nous.facts.fact_index`), so
nothing is ever overwritten and every verdict can be read again.
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
    """Where something was said: the turns of an episode, and the event that brought it.

    `said_at` is when the session ended, `digest` the sha256 of its transcript, and `by` what read it: a model with its
    prompt, or `extractive`. They are None in what releases wrote that did not know them, and for what was told by hand.
    `trust` is whose words it was.
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
    """One thing that is known, in the words of its first source. Its id derives from the episode and the text."""

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
    """A new fact. `embedded_by` is the id of the embedder that made its vector, None while it has none."""

    fact: Fact
    reason: str
    embedded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """*fact_id* was said again, as *text*, by another source.

    `merged_from` is the fact whose words these are, where that was merged into *fact_id*. The row counts for that fact
    where the merge does not stand.
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
    """*fact_id* has given way to *by*, at the time *at*; it stays readable.

    `valid_to` is until when it was true, where *by* contradicts it; None where both say the same, or one says more.
    `by_hand` marks what a person has settled. With `is_undone`, the row takes that back: *fact_id* is current again. It
    is a field and no kind of row of its own, so that older releases can read the log: to them, the two stay merged.
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
    """How two facts that are both kept stand to each other.

    `DUPLICATE`: they may say the same. `UPDATE`: the later one may replace the earlier one. `APART`: a person has
    decided that they are two. `RELATED`: they are near, and differ in something that matters.
    """

    RELATED = "related"
    DUPLICATE = "duplicate"
    UPDATE = "update"
    APART = "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """*fact_id* and *other* are close, and *reason* says why both were kept.

    `likelihood`, between 0 and 1, is how likely a possible duplicate says the same; None for other kinds of links. Of
    several links between two facts the last holds, unless a person keeps them apart; a later link `by_hand` of another
    kind takes that back.
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
    """*fact_id* has got a vector, which it did not have when it was learned, or one of another embedder besides."""

    fact_id: UUID
    embedded_by: str


Row = Learned | Confirmed | Superseded | Linked | Embedded


class Telling(NamedTuple):
    """*source* has said the fact *fact_id*, as *text*."""

    fact_id: UUID
    source: Source
    text: str


def tellings(rows: Iterable[Row]) -> Iterator[Telling]:
    """Who has said what, and in which words, in the order of *rows*."""
    for row in rows:
        match row:
            case Learned(fact=fact):
                yield Telling(fact.id, fact.source, fact.text)
            case Confirmed():
                yield Telling(row.fact_id, row.source, row.text)
            case _:
                pass


def standing(rows: Iterable[Row]) -> Sequence[Row]:
    """Return the rows of a whole log as if what was taken back had never been."""
    return tuple(row for row in in_force(tuple(rows)) if row)


def in_force(rows: Sequence[Row]) -> Sequence[Row | None]:
    """Return the effective form of each row of a whole log: None if it was taken back, or takes something back."""
    ways: dict[UUID, Superseded] = {}
    has_undone = False
    for row in rows:
        if isinstance(row, Superseded) and not row.is_undone:
            ways[row.fact_id] = row
        elif isinstance(row, Superseded):
            has_undone = True
            if row.fact_id in ways and ways[row.fact_id].by == row.by:
                del ways[row.fact_id]

    def now(row: Row) -> Row | None:
        match row:
            case Superseded():
                return row if not has_undone or ways.get(row.fact_id) is row else None
            case Confirmed(merged_from=UUID() as fact):
                return attributed(row, _line(fact, ways))
            case _:
                return row

    return [now(row) for row in rows]


def _line(fact: UUID, ways: Mapping[UUID, Superseded]) -> Sequence[UUID]:
    """*fact*, what it was merged into, and so on."""
    found = [fact]
    while (way := ways.get(found[-1])) and way.valid_to is None and way.by not in found:
        found.append(way.by)
    return found


def attributed(row: Confirmed, line: Collection[UUID]) -> Confirmed:
    """Return *row* as said of the fact whose words it has, unless *line*, which begins there, leads to the other."""
    if row.merged_from is None or row.fact_id in line:
        return row
    return replace(row, fact_id=row.merged_from, merged_from=None)


def named(row: Row) -> frozenset[UUID]:
    """The facts that *row* tells something of, which rows before it taught."""
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
    """*row* without a vector that comes with what it teaches."""
    return replace(row, embedded_by=None) if isinstance(row, Learned) else row


def embedding(row: Row) -> tuple[UUID, str] | None:
    """The fact that comes with a vector in *row*, and the embedder that made it."""
    match row:
        case Learned(fact=fact, embedded_by=str(embedder)):
            return fact.id, embedder
        case Embedded(fact_id=fact_id, embedded_by=embedder):
            return fact_id, embedder
        case _:
            return None


@dataclass(frozen=True, slots=True)
class LogVersion:
    """What a reader has seen of a scope's log: *n* rows, whose hash chain ends in *chain*, of erasure epoch *epoch*.

    A count alone would not do: after a power cut the log may be shorter and grow back to the same length with other
    rows, and only the chain tells. `vectors` counts those stored with the rows: an append puts its own behind them.
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
