"""What can happen: the table of contents of the system.

Events are frozen and named in the past tense. On the wire each is CloudEvents 1.0 JSON (see `nous.domain.event_codec`);
the fields that `Event` declares are the envelope, those of its subclasses are `data`. Another event is another
subclass, wherever it is declared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self, cast
from uuid import UUID, uuid5

from nous.domain.episode import CandidateFact, Decision, ExcerptSeen, Share, Summary, TranscriptSeen
from nous.domain.scope import Scope

NAMESPACE = UUID("6f3b0c1e-7d0a-5b56-9a55-0d1c3f6f2a77")
"""The namespace of every id that nous derives."""

JsonObject = Mapping[str, Any]


def episode_id(scope: Scope, session_id: str) -> UUID:
    """The id of a session's episode, which is the same in every edition."""
    return uuid5(NAMESPACE, f"episode\n{scope}\n{session_id}")


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that has happened.

    `trace_id` is the id of the event that began the chain, `caused_by` that of the one that led to this one.
    `needs_session` is false for what nous says of a scope as well: see `nous.domain.event_codec.NO_SESSION`. `recurs`
    is true of what may be said in the same words again, and is another event then.
    """

    type: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1
    needs_session: ClassVar[bool] = True
    recurs: ClassVar[bool] = False

    id: UUID
    time: datetime
    source: str
    scope: Scope
    agent_id: str
    session_id: str
    trace_id: UUID
    caused_by: UUID | None = None
    traceparent: str | None = None

    def next_id(self, worker: str, index: int = 0) -> UUID:
        """Name the *index*-th event that *worker* emits because of this one: the same name however often it is said."""
        return uuid5(self.id, f"{worker}/{index}")

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """The `data` of a producer that wrote in short, as this event spells it out."""
        return data

    @classmethod
    def after(cls, cause: "Event", *, by: str, index: int = 0, at: datetime, **data: Any) -> Self:
        """The *index*-th event that the worker *by* emits because of *cause*, at the time *at*."""
        return cls(
            id=cause.next_id(by, index),
            time=at,
            source=f"nous/{by}",
            scope=cause.scope,
            agent_id=cause.agent_id,
            session_id=cause.session_id,
            trace_id=cause.trace_id,
            caused_by=cause.id,
            traceparent=cause.traceparent,
            **data,
        )


@dataclass(frozen=True, kw_only=True)
class SessionEvent(Event):
    """Something that brings a session's transcript: inline (`transcript`) or elsewhere (`dataref`).

    `digest` (sha256, hex) and `bytes` describe the referred transcript as it was when this was published.
    """

    transcript: str | tuple[JsonObject, ...] | None = None
    dataref: str | None = None
    digest: str | None = None
    bytes: int | None = None
    format: str | None = None


@dataclass(frozen=True, kw_only=True)
class SessionEnded(SessionEvent):
    """An agent's session is over, for now."""

    type: ClassVar[str] = "session_ended"

    reason: str = "other"
    native_reason: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cwd: str | None = None
    git: JsonObject | None = None
    model: str | None = None
    decisions: tuple[JsonObject, ...] = ()
    parent_session_id: str | None = None

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """A decision may be a mere text. One that is neither that nor an object costs itself, and not the session."""
        if "decisions" not in data:
            return data
        said = data["decisions"] or []
        each = cast("list[Any]", said if isinstance(said, list) else [said])
        told = ({"description": one} if isinstance(one, str) else one for one in each)
        return {**data, "decisions": [one for one in told if isinstance(one, dict)]}

    @property
    def decided(self) -> tuple[Decision, ...]:
        """Its decisions, as far as they can be read."""
        return tuple(decision for said in self.decisions if (decision := Decision.read(said)))


@dataclass(frozen=True, kw_only=True)
class SessionCompacting(SessionEvent):
    """An agent is about to forget the beginning of its session, which goes on."""

    type: ClassVar[str] = "session_compacting"

    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SessionTouched(Event):
    """An agent's session has moved on. It only says so, and where the transcript is; nobody reads that yet.

    `background` is a turn that nobody asked for, and so no activity.
    """

    type: ClassVar[str] = "session_touched"
    recurs: ClassVar[bool] = True

    dataref: str | None = None
    format: str | None = None
    at: datetime | None = None
    background: bool = False


@dataclass(frozen=True, kw_only=True)
class DecisionRecorded(Event):
    """Something was decided in a session, in the words of whoever recorded it."""

    type: ClassVar[str] = "decision_recorded"

    description: str
    category: str = "decision"
    stakes: str = "unstated"
    confidence: Share = 1.0
    at: datetime | None = None

    @property
    def decision(self) -> Decision:
        return Decision(
            description=self.description,
            category=self.category,
            stakes=self.stakes,
            confidence=self.confidence,
            at=self.at or self.time,
        )


@dataclass(frozen=True, kw_only=True)
class EpisodeSummarized(Event):
    """A session has become an episode, of which `version` names the transcript it was made from."""

    type: ClassVar[str] = "episode_summarized"

    episode_id: UUID
    version: str
    summary: Summary
    candidate_facts: tuple[CandidateFact, ...] = ()
    tier: str = "extractive"
    model: str | None = None
    prompt_version: str | None = None
    tokens: Mapping[str, int] | None = None
    ended_at: datetime | None = None
    transcript: TranscriptSeen | None = None
    excerpt: ExcerptSeen | None = None

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """A candidate fact may be a mere text; one that says nothing is left out."""
        candidates = data.get("candidate_facts")
        if not isinstance(candidates, list):
            return data
        saying = (each for each in cast("list[Any]", candidates) if not isinstance(each, str) or each.strip())
        return {**data, "candidate_facts": [{"text": each} if isinstance(each, str) else each for each in saying]}


@dataclass(frozen=True, kw_only=True)
class EpisodeOutdated(Event):
    """There is a better means (*by*, a model and a prompt) than the one that made this edition of an episode."""

    type: ClassVar[str] = "episode_outdated"

    episode_id: UUID
    edition: int
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class FactsUnembedded(Event):
    """Facts of a scope wait for a vector, and to be compared by their sense with the others."""

    type: ClassVar[str] = "facts_unembedded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class EpisodesUnembedded(Event):
    """Episodes of a scope wait for a vector, and are found by their words alone until then."""

    type: ClassVar[str] = "episodes_unembedded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class FactEvent(Event):
    """What the four fact events have in common. `reason` says in words why the verdict was reached."""

    fact_id: UUID
    text: str
    category: str
    episode_id: UUID
    turns: tuple[int, ...]
    verdict: str
    reason: str
    other_fact_id: UUID | None = None
    similarity: float | None = None


@dataclass(frozen=True, kw_only=True)
class FactLearned(FactEvent):
    """Something new is known."""

    type: ClassVar[str] = "fact_learned"


@dataclass(frozen=True, kw_only=True)
class FactConfirmed(FactEvent):
    """Something known was said again, by another source."""

    type: ClassVar[str] = "fact_confirmed"


@dataclass(frozen=True, kw_only=True)
class FactSuperseded(FactEvent):
    """Something known has given way to `other_fact_id`, and stays reachable."""

    type: ClassVar[str] = "fact_superseded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class FactLinked(FactEvent):
    """Something is known beside `other_fact_id`, which is like it; the reason says why both are kept."""

    type: ClassVar[str] = "fact_linked"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class JobDeadLettered(Event):
    """An event was given up by a worker. *what* names the worker and the event's place, *why* quotes no content."""

    type: ClassVar[str] = "job_dead_lettered"
    needs_session: ClassVar[bool] = False

    what: Mapping[str, str]
    why: str
    counts: Mapping[str, int]


def kinds(of: type[Event] = Event) -> dict[str, type[Event]]:
    """Every concrete event by its type, as declared by whatever has been imported."""
    own = {of.type: of} if of.type else {}
    return own | {name: kind for each in of.__subclasses__() for name, kind in kinds(each).items()}
