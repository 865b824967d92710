"""What is known, and from where.

A scope's knowledge is an append-only log of rows. What is current is a fold over it (`nous.learning.known`), so nothing
is ever overwritten and every verdict can be read again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from nous.episode import Category
from nous.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where something was said: the turns of an episode, and the event that brought it."""

    episode_id: UUID
    event_id: UUID
    session_id: str
    turns: tuple[int, ...]


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
    """*fact_id* was said again, as *text*, by another source."""

    fact_id: UUID
    source: Source
    text: str
    reason: str
    at: datetime
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """*fact_id* has given way to *by*; it stays readable, valid until *at*."""

    fact_id: UUID
    by: UUID
    reason: str
    at: datetime
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """*fact_id* and *other* are close, and *reason* says why both were kept."""

    fact_id: UUID
    other: UUID
    reason: str
    at: datetime
    similarity: float | None = None


Row = Learned | Confirmed | Superseded | Linked


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
