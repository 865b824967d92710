"""What a handler gives back: the records to write and the events that follow. Only the runtime commits them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.anchored_summary import Anchor
from nous.domain.episode import Decision, Episode
from nous.domain.errors import Retryable
from nous.domain.events import Event
from nous.domain.fact import LogVersion, Row
from nous.domain.scope import Scope
from nous.domain.session_state import Course
from nous.domain.summary_input import Brief

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveEpisode:
    """Store an episode in place of the edition the handler saw (None: there was none), which stays reachable.

    *brief* is what it was made from. An extractive episode that has one is made anew when a model can.
    """

    episode: Episode
    replaces: Episode | None = None
    brief: Brief | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTried:
    """Remember that *by*, a model and a prompt, has had its chance with an episode that is extractive.

    A *by* that ends in a day has had it for that day (see `for_today`). `ExpectEpisode`, beside it, says which
    edition that was.
    """

    scope: Scope
    episode_id: UUID
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOffering:
    """Have an episode offered to no model any more: it is gone, or one has made it, or there is nothing to make it of.

    It is offered again when an extractive edition is saved that has a brief.
    """

    scope: Scope
    episode_id: UUID


def for_today(by: str, now: datetime) -> str:
    """*by*, for this day (UTC) alone: what failed for want of time or tokens may go well tomorrow."""
    return f"{by} {now.astimezone(UTC).date()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepVector:
    """Keep what *embedder* made of an episode's summary, in place of what it made of an earlier edition's.

    *of* is the state of the edition that the handler saw; where that has changed, the vector is not its any more.
    """

    scope: Scope
    episode_id: UUID
    of: str
    embedder: str
    vector: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepDecision:
    """Keep what was decided in a session with its episode; *event_id* is the event that said so."""

    scope: Scope
    episode_id: UUID
    event_id: UUID
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveAnchor:
    """Store a session's anchored summary in place of the one made for the event *replaces* (None: there was none)."""

    anchor: Anchor
    replaces: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFacts:
    """Append rows to a scope's log, if nobody has appended since *expected* was read; with no rows, only expect that.

    `vectors` holds a unit vector for each row that names an embedder.
    """

    scope: Scope
    expected: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectEpisode:
    """Nothing is stored; but the edition that the handler saw, by its *state*, has to be there still ("": none was).

    For whoever finds that nothing is left to do: what has done it may be undone before that is committed, as by a
    server that loses its last writes.
    """

    scope: Scope
    episode_id: UUID
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectAnchor:
    """As `ExpectEpisode`, of the anchored summary that was made for the event *event_id* (None: there was none)."""

    scope: Scope
    agent_id: str
    session_id: str
    event_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectCourse:
    """As `ExpectEpisode`, of how far a session has come; *by* is the event that brought it there (None: none did)."""

    scope: Scope
    session_id: str
    by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTranscript:
    """An uploaded transcript has done its duty and may go, if it is one of *scope*: a producer names what it likes."""

    scope: Scope
    dataref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCourse:
    """Note how far a session has come, if nobody has noted anything since *replaces* was read (None: nothing was)."""

    course: Course
    replaces: Course | None = None


Write = (
    SaveEpisode
    | NoteTried
    | StopOffering
    | KeepVector
    | KeepDecision
    | SaveAnchor
    | AppendFacts
    | ExpectEpisode
    | ExpectAnchor
    | ExpectCourse
    | ReleaseTranscript
    | NoteCourse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Everything that follows from an event, or, in `skipped`, the reason why nothing does."""

    writes: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    skipped: str | None = None

    def __post_init__(self) -> None:
        """Two writes to one place would each be checked against the same state, and the second would undo the first."""
        places = [_place(write) for write in self.writes]
        if len(set(places)) < len(places):
            raise ValueError("the effects hold two writes to the same place")


def _place(write: Write) -> tuple[object, ...]:
    match write:
        case SaveEpisode():
            return "episode", write.episode.scope, write.episode.id
        case ExpectEpisode():
            return "episode", write.scope, write.episode_id
        case NoteTried() | StopOffering():
            return "tried", write.scope, write.episode_id
        case KeepVector():
            return "vector", write.scope, write.episode_id, write.embedder
        case KeepDecision():
            return "decision", write.scope, write.episode_id, write.event_id
        case SaveAnchor():
            return "anchor", write.anchor.scope, write.anchor.agent_id, write.anchor.session_id
        case ExpectAnchor():
            return "anchor", write.scope, write.agent_id, write.session_id
        case AppendFacts():
            return "facts", write.scope
        case ReleaseTranscript():
            return "transcript", write.dataref
        case NoteCourse():
            return "course", write.course.scope, write.course.session_id
        case ExpectCourse():
            return "course", write.scope, write.session_id


class Compromise(Retryable):
    """The world was not ready. Try again, and where there is no patience left, settle for *effects*."""

    def __init__(self, cause: Retryable, effects: Effects) -> None:
        super().__init__(str(cause))
        self.effects = effects
