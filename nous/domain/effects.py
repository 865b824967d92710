"""Value types that a handler returns: writes, preconditions, events; the runtime commits."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.episode import Decision, Episode
from nous.domain.errors import Retryable
from nous.domain.events import Event, SessionEvent
from nous.domain.fact import LogVersion, Row
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState
from nous.domain.summary_input import SummaryInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveEpisode:
    """Store an episode in place of *replaces*, the edition that the handler saw, if any.

    *replaces* stays reachable. *summary_input* is its source, of which an extractive episode is regenerated.
    """

    episode: Episode
    replaces: Episode | None = None
    summary_input: SummaryInput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordResummaryAttempt:
    """Record that *by*, a model and a prompt, has tried to resummarize an extractive episode.

    The edition is that of `ExpectEpisode` in the same effects. *by* may hold for a day (see `for_today`).
    """

    scope: Scope
    episode_id: UUID
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveFromResummaries:
    """Remove an episode from the queue for resummarization, until a new edition is extractive."""

    scope: Scope
    episode_id: UUID


def for_today(by: str, now: datetime) -> str:
    """Return *by* for the day of *now* (UTC) alone: the attempt may succeed tomorrow."""
    return f"{by} {now.astimezone(UTC).date()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveEpisodeVector:
    """Store the vector of an episode's summary, made by *embedder*, in place of an earlier one.

    *of* is the state of the edition that the handler saw. If that has changed, the vector no longer fits.
    """

    scope: Scope
    episode_id: UUID
    of: str
    embedder: str
    vector: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveDecision:
    """Store a decision of a session with its episode; *event_id* is the event that recorded it."""

    scope: Scope
    episode_id: UUID
    event_id: UUID
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveAnchoredSummary:
    """Store a session's anchored summary in place of that made for event *replaces*, if any."""

    anchor: StoredAnchoredSummary
    replaces: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFacts:
    """Append rows to the fact log of a scope, if it is still at version *expected*.

    Without rows, only the version is checked. `vectors` holds a unit vector for each row that names an embedder.
    """

    scope: Scope
    expected: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectEpisode:
    """Precondition: the episode's current edition is still *state* ("": there is none).

    A handler that finds nothing left to do returns this, since a server may lose its last writes before the commit.
    """

    scope: Scope
    episode_id: UUID
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectAnchoredSummary:
    """Precondition like `ExpectEpisode`: the anchored summary is that of *event_id*, if any."""

    scope: Scope
    agent_id: str
    session_id: str
    event_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectSessionState:
    """Precondition like `ExpectEpisode`: the session state is that of the event *by*, if any."""

    scope: Scope
    session_id: str
    by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTranscript:
    """Delete an upload, if it belongs to *scope*: a producer may name any."""

    scope: Scope
    dataref: str


def released(event: SessionEvent) -> tuple[ReleaseTranscript, ...]:
    """Return the write that deletes the uploaded transcript of *event*, if it has one."""
    dataref = event.dataref or ""
    return (ReleaseTranscript(scope=event.scope, dataref=dataref),) if dataref.startswith("redis:") else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSessionState:
    """Store a session state, if *replaces* is still the current one (None: there is none)."""

    session_state: SessionState
    replaces: SessionState | None = None


Write = (
    SaveEpisode
    | RecordResummaryAttempt
    | RemoveFromResummaries
    | SaveEpisodeVector
    | SaveDecision
    | SaveAnchoredSummary
    | AppendFacts
    | ExpectEpisode
    | ExpectAnchoredSummary
    | ExpectSessionState
    | ReleaseTranscript
    | SaveSessionState
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """All writes and events of one handler run, or, in `skipped`, the reason for having none."""

    writes: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    skipped: str | None = None


class DegradedResult(Retryable):
    """Retryable failure; on the last attempt, *effects* are committed instead."""

    def __init__(self, cause: Retryable, effects: Effects) -> None:
        super().__init__(str(cause))
        self.effects = effects
