"""Where episodes, facts and transcripts are read. Writing is the bus's: it commits what a handler returns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.brief import Brief
from nous.episode import Decision, Episode
from nous.events import SessionEvent
from nous.fact import LogVersion, Row
from nous.scope import Scope
from nous.summary.anchored.anchor import Anchor
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


class Anchors(Protocol):
    """The anchored summary of each agent's session."""

    def anchor(self, scope: Scope, *, agent_id: str, session_id: str) -> Anchor | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSlice:
    """Rows of a scope's log up to *version*, and the vectors of the facts they learned.

    `complete` means that they begin at the log's first row, so that whatever was read before has to be forgotten.
    """

    version: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)
    complete: bool = True


class FactLog(Protocol):
    """The append-only log of what each scope knows."""

    def read(self, scope: Scope, *, after: LogVersion | None = None) -> LogSlice:
        """The rows after *after*, or all of them when there is no *after* or the log no longer continues it."""
        ...


class Transcripts(Protocol):
    """Finds and reads the transcript that an event speaks of."""

    def read(self, event: SessionEvent) -> Transcript:
        """The transcript, inline or referred to.

        Raises:
            BadInput: it is gone, unreadable, or of no known format.
            Unavailable: its store did not answer.
        """
        ...
