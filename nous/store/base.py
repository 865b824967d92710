"""Where episodes, facts and transcripts are read. Writing is the bus's: it commits what a handler returns."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.domain.anchored_summary import Anchor
from nous.domain.episode import Decision, Episode
from nous.domain.events import SessionEvent
from nous.domain.fact import LogVersion, Row
from nous.domain.scope import Scope
from nous.domain.session_state import Course, Stage
from nous.domain.summary_input import Brief
from nous.transcript.model import Transcript

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Episodes(Protocol):
    """The episodes of every scope, each in its current edition."""

    def get(self, scope: Scope, episode_id: UUID) -> Episode | None: ...

    def editions(self, scope: Scope, episode_id: UUID) -> Sequence[Episode]:
        """Every edition of an episode, the current one first."""
        ...

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        """The *limit* episodes that ended last, newest first."""
        ...

    def scopes(self) -> Sequence[Scope]:
        """Every scope that has an episode or a fact, in order."""
        ...


class Briefs(Protocol):
    """What episodes were made from, and which of them a model has not made yet."""

    def brief(self, scope: Scope, episode_id: UUID) -> Brief | None:
        """What the episode's current edition was made from; None where nothing was kept of it."""
        ...

    def unrefined(self, *, but: Collection[str] = ()) -> Iterator[tuple[Scope, UUID]]:
        """The extractive episodes that have a brief, *but* those that one of these has tried last (see `NoteTried`)."""
        ...


class DecisionSource(Protocol):
    """What was decided in sessions, as it was said while they ran."""

    def get_episode_decisions(self, episode_id: UUID, *, scope: Scope) -> Sequence[Decision]:
        """The decisions of one session, in the order in which they were made.

        Raises:
            Unavailable: the store did not answer.
        """
        ...


class Courses(Protocol):
    """How far sessions have come, of all scopes. Of one that has ended this is forgotten after 30 days."""

    def course(self, scope: Scope, session_id: str) -> Course | None: ...

    def sessions(
        self, stage: Stage, *, before: datetime | None = None, limit: int = 100, skip: int = 0
    ) -> Sequence[tuple[Scope, str]]:
        """The sessions that are at *stage* since a time earlier than *before*, the longest ago first.

        At most *limit* of them, after the first *skip*; none of those that have ended. What is listed may have moved on
        by the time it is looked at.
        """
        ...


class Anchors(Protocol):
    """The anchored summary of each agent's session."""

    def anchor(self, scope: Scope, *, agent_id: str, session_id: str) -> Anchor | None: ...

    def latest(self, scope: Scope) -> Anchor | None:
        """The one of *scope* that was made last."""
        ...


NO_VECTORS = ""
"""The embedder that made none, for those who read rows alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSlice:
    """Rows of a scope's log up to *version*, and the vectors that came with them.

    `complete` means that they begin at the log's first row, so that whatever was read before has to be forgotten.
    `slots` are the places of the vectors, by which they can be read again.
    """

    version: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)
    slots: Mapping[UUID, int] = field(default_factory=dict[UUID, int])
    complete: bool = True


class Calibrations(Protocol):
    """What was measured of embedders."""

    def thresholds(self) -> Mapping[str, float]:
        """By embedder, the cosine from which one of two texts may have words that the other lacks (tau)."""
        ...


class FactLog(Protocol):
    """The append-only log of what each scope knows."""

    def read(
        self,
        scope: Scope,
        *,
        after: LogVersion | None = None,
        embedder: str | None = None,
        limit: int | None = None,
    ) -> LogSlice:
        """The rows after *after*, or all of them when there is no *after* or the log no longer continues it.

        At most *limit* of them. With the vectors that *embedder* made, or without one, of each fact the vector that it
        got last; with `NO_VECTORS`, none.
        """
        ...

    def vectors(
        self, scope: Scope, slots: Sequence[int], *, embedder: str, dim: int, at: LogVersion
    ) -> "NDArray[np.float32]":
        """The vectors by *embedder* that stand in *slots* of the log at *at*, a row for each.

        Raises:
            Retryable: the log is no longer that one.
        """
        ...


class EpisodeVectors(Protocol):
    """What embedders made of episodes, so that they can be found by their meaning."""

    def episode_vectors(
        self, scope: Scope, episode_ids: Sequence[UUID], *, embedder: str
    ) -> "Mapping[UUID, NDArray[np.float32]]":
        """The vectors by *embedder* of those of these episodes that have one, be it of an earlier edition."""
        ...

    def without_vector(self, scope: Scope, *, embedder: str) -> Sequence[UUID]:
        """The episodes of whose current edition *embedder* has made no vector, the one that ended last first."""
        ...


class Transcripts(Protocol):
    """Finds and reads the transcript that an event speaks of."""

    def read(self, event: SessionEvent) -> Transcript:
        """The transcript, inline or referred to.

        Raises:
            Unreadable: it is gone, damaged, or of no known format.
            Unavailable: its store did not answer.
        """
        ...


_LAST = datetime.max.replace(tzinfo=UTC)


def in_order(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """*decisions* by their time; those that have none are last, in the order of their words."""
    return tuple(sorted(decisions, key=lambda each: (each.at or _LAST, each.description)))
