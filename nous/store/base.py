"""Read-only interfaces of the stores; the bus commits the effects that handlers return."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.episode import Decision, Episode
from nous.domain.fact import LogVersion, Row
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus
from nous.domain.summary_input import SummaryInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nous.domain.events import SessionEvent
    from nous.transcript.model import Transcript


class Episodes(Protocol):
    """Reader of the episodes of every scope, with their summary inputs and vectors.

    Each episode has a current edition. Episodes to resummarize are queued.
    """

    def get(self, scope: Scope, episode_id: UUID) -> Episode | None: ...

    def editions(self, scope: Scope, episode_id: UUID) -> Sequence[Episode]:
        """Return every edition of an episode, the current one first."""
        ...

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        """Return the *limit* episodes that ended last, newest first."""
        ...

    def count(self, scope: Scope) -> int:
        """Return how many sessions have an episode."""
        ...

    def scopes_of(self, session_id: str) -> Sequence[Scope]:
        """Return the scopes that have an episode of the session."""
        ...

    def scopes(self) -> Sequence[Scope]:
        """Return every scope that has an episode or a fact, sorted."""
        ...

    def summary_input(self, scope: Scope, episode_id: UUID) -> SummaryInput | None:
        """Return the input of the episode's current edition; None if none was kept."""
        ...

    def unrefined(self, *, but: Collection[str] = ()) -> Iterator[tuple[Scope, UUID]]:
        """Yield the extractive episodes that have an input and were not last tried by one of *but*."""
        ...

    def episode_vectors(
        self, scope: Scope, episode_ids: Sequence[UUID], *, embedder: str
    ) -> "Mapping[UUID, NDArray[np.float32]]":
        """Return the vectors that there are; one may belong to an earlier edition of its episode."""
        ...

    def without_vector(self, scope: Scope, *, embedder: str) -> Sequence[UUID]:
        """Return the episodes whose current edition has no vector by *embedder*, latest end first."""
        ...


class DecisionSource(Protocol):
    """Reader of decisions that agents recorded during their sessions."""

    def get_episode_decisions(self, episode_id: UUID, *, scope: Scope) -> Sequence[Decision]:
        """Return the decisions of a session as they were made. Raises `Unavailable`."""
        ...


class SessionStates(Protocol):
    """Reader of session states in all scopes, kept for 30 days after a session has ended."""

    def session_state(self, scope: Scope, session_id: str) -> SessionState | None: ...

    def sessions(
        self, stage: SessionStatus, *, before: datetime | None = None, limit: int = 100
    ) -> Sequence[tuple[Scope, str]]:
        """List sessions whose status has been *stage* since a time before *before*, oldest first.

        Returns at most *limit* sessions; none that have ended. One may change its status before it is read.
        """
        ...


class AnchoredSummaries(Protocol):
    """Reader of anchored (rolling) summaries, one for each session of an agent."""

    def anchored_summary(self, scope: Scope, *, agent_id: str, session_id: str) -> StoredAnchoredSummary | None: ...

    def of_scope(self, scope: Scope) -> Sequence[StoredAnchoredSummary]:
        """Return the anchored summaries of *scope*, newest first."""
        ...


NO_VECTORS = ""  # embedder name for readers that need rows without vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSlice:
    """Rows of a scope's fact log up to *version*, with the vectors of facts.

    `complete` means that the rows begin at the log's first row: discard everything read before.
    """

    version: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)
    complete: bool = True


class FactLog(Protocol):
    """Reader of the append-only fact log of each scope."""

    def read(
        self, scope: Scope, *, after: LogVersion | None = None, embedder: str | None = None, limit: int | None = None
    ) -> LogSlice:
        """Return the rows after *after*, at most *limit*.

        All rows, if the log does not continue that version. The slice holds the vectors made by *embedder*; without
        one, the last vector of each fact; with `NO_VECTORS`, none. Raises `Retryable` if the log is rewritten
        meanwhile, and `Misconfigured` if it is damaged or needs a newer release.
        """
        ...


class Transcripts(Protocol):
    """Reader of the transcript that an event carries or refers to."""

    def read(self, event: "SessionEvent") -> "Transcript":
        """Return the transcript, inline or referenced.

        Raises `Unreadable` if it is gone, damaged or of no known format, `Unavailable` if its store did not answer.
        """
        ...


_LAST = datetime.max.replace(tzinfo=UTC)


def in_order(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Sort *decisions* by time; those without one come last, by description."""
    return tuple(sorted(decisions, key=lambda each: (each.at or _LAST, each.description)))
