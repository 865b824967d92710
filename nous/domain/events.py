"""Event classes, from `SessionEnded` to `JobDeadLettered`; derive ids and missing fields.

Events are frozen. On the wire each is CloudEvents 1.0 JSON (see `nous.domain.event_codec`). The fields of subclasses,
and the session, agent and scope of `Event`, are its `data`; the other fields are the envelope. A new event is a new
subclass, in any module.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar, Self, cast
from uuid import UUID, uuid5

from typing_extensions import override  # typing has it from Python 3.12 on

from nous.domain.episode import CandidateFact, Decision, ExcerptSeen, Share, Summary, TranscriptSeen, episode_id
from nous.domain.scope import Scope

JsonObject = Mapping[str, Any]


def own_id(data: JsonObject) -> str | None:
    """Return the id that a producer gave an episode: a text, or a number as text."""
    given = data.get("episode_id")
    return str(given) if isinstance(given, str | int | float) and given != "" else None


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base class of all events.

    `trace_id` is the id of the first event of the chain, `caused_by` that of the direct cause. Without `needs_session`,
    it may concern a scope (see `nous.domain.scope.NO_SESSION`). If it `recurs`, equal data are distinct events.
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
        """Return the id of the *index*-th event that *worker* emits for this one; deterministic."""
        return uuid5(self.id, f"{worker}/{index}")

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """Expand the terse `data` of a producer to all fields of this event."""
        return data

    @classmethod
    def derived(cls, scope: Scope, session_id: str, content: str) -> JsonObject:
        """Derive the `data` fields that a terse producer left out of *content*, canonical JSON."""
        del scope, session_id, content
        return {}

    @classmethod
    def after(cls, cause: "Event", *, by: str, index: int = 0, at: datetime, **data: Any) -> Self:
        """Create the *index*-th event that worker *by* emits because of *cause*, at time *at*."""
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
    """Base class of events with a transcript: inline (`transcript`) or elsewhere (`dataref`).

    `digest` (sha256, hex) and `bytes` describe the referenced transcript as it was when this was published.
    """

    transcript: str | tuple[JsonObject, ...] | None = None
    dataref: str | None = None
    digest: str | None = None
    bytes: int | None = None
    format: str | None = None


@dataclass(frozen=True, kw_only=True)
class SessionEnded(SessionEvent):
    """A session is over, for now; `episode_id` is its producer's own id for the episode."""

    type: ClassVar[str] = "session_ended"

    episode_id: str | None = None
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
        """Expand decisions that are plain text; an invalid one does not invalidate the session."""
        if own := own_id(data):
            data = {**data, "episode_id": own}
        if "decisions" not in data:
            return data
        given = data["decisions"] or []
        each = cast("list[Any]", given if isinstance(given, list) else [given])
        expanded = ({"description": one} if isinstance(one, str) else one for one in each)
        return {**data, "decisions": [one for one in expanded if isinstance(one, dict)]}

    @property
    def decided(self) -> tuple[Decision, ...]:
        """Its decisions, as far as they can be read."""
        return tuple(decision for given in self.decisions if (decision := Decision.read(given)))


@dataclass(frozen=True, kw_only=True)
class SessionCompacting(SessionEvent):
    """An agent is about to compact its context; the session goes on."""

    type: ClassVar[str] = "session_compacting"

    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SessionTouched(Event):
    """A session was active; `background` marks a turn that no user asked for."""

    type: ClassVar[str] = "session_touched"
    recurs: ClassVar[bool] = True

    dataref: str | None = None
    format: str | None = None
    at: datetime | None = None
    background: bool = False


@dataclass(frozen=True, kw_only=True)
class DecisionRecorded(Event):
    """A decision of a session was recorded, in the recorder's own words.

    If the producer named its own id of the episode, and not the session, both ids are that one.
    """

    type: ClassVar[str] = "decision_recorded"

    description: str
    episode_id: str | None = None
    category: str = "decision"
    stakes: str = "unstated"
    confidence: Share = 1.0
    at: datetime | None = None

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """Take a producer's own id of the episode for the session, if that is not named."""
        own = own_id(data)
        if own is not None and not data.get("session_id"):
            return {**data, "session_id": own, "episode_id": own}
        return data if isinstance(data.get("episode_id"), str | None) else {**data, "episode_id": None}

    @property
    def is_aliased(self) -> bool:
        return self.episode_id == self.session_id

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
    """An episode was made of the transcript `version`; `external_id` is its producer's id."""

    type: ClassVar[str] = "episode_summarized"

    episode_id: UUID
    version: str
    external_id: str | None = None
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
    @override
    def derived(cls, scope: Scope, session_id: str, content: str) -> JsonObject:
        return {"episode_id": episode_id(scope, session_id), "version": sha256(content.encode()).hexdigest()}

    @classmethod
    def completed(cls, data: JsonObject) -> JsonObject:
        """Expand candidate facts that are plain text, or have a `content`; drop blank ones."""
        candidates = data.get("candidate_facts")
        if not isinstance(candidates, list):
            return data
        saying = (each for each in cast("list[Any]", candidates) if not isinstance(each, str) or each.strip())
        return {**data, "candidate_facts": [*map(with_text, saying)]}


def with_text(candidate: Any) -> Any:
    """Return a candidate fact with its `text`; on the wire it may be that alone, or a `content`."""
    if isinstance(candidate, str):
        return {"text": candidate}
    is_worded = isinstance(candidate, dict) and "text" not in candidate and "content" in candidate
    return {**candidate, "text": candidate["content"]} if is_worded else candidate


@dataclass(frozen=True, kw_only=True)
class EpisodeOutdated(Event):
    """A better summarizer than that of this edition is available: *by*, a model and a prompt."""

    type: ClassVar[str] = "episode_outdated"

    episode_id: UUID
    edition: int
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class FactsUnembedded(Event):
    """Facts of a scope lack a vector, and have to be compared by meaning with the others."""

    type: ClassVar[str] = "facts_unembedded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class EpisodesUnembedded(Event):
    """Episodes of a scope lack a vector, and are found by keywords alone until they have one."""

    type: ClassVar[str] = "episodes_unembedded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class FactEvent(Event):
    """Base class of the four fact events; `reason` explains the verdict in words."""

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
    """A new fact was learned."""

    type: ClassVar[str] = "fact_learned"


@dataclass(frozen=True, kw_only=True)
class FactConfirmed(FactEvent):
    """A known fact was stated again by another source."""

    type: ClassVar[str] = "fact_confirmed"


@dataclass(frozen=True, kw_only=True)
class FactSuperseded(FactEvent):
    """A known fact was superseded by `other_fact_id`; it stays reachable."""

    type: ClassVar[str] = "fact_superseded"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class FactLinked(FactEvent):
    """A known fact was linked to `other_fact_id`, which is similar; `reason` says why."""

    type: ClassVar[str] = "fact_linked"
    needs_session: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class JobDeadLettered(Event):
    """A worker has dead-lettered the event at *what*; *why* quotes no content."""

    type: ClassVar[str] = "job_dead_lettered"
    needs_session: ClassVar[bool] = False

    what: Mapping[str, str]
    why: str
    counts: Mapping[str, int]


def kinds(of: type[Event] = Event) -> dict[str, type[Event]]:
    """Return every concrete event class by its type; only imported modules count."""
    own = {of.type: of} if of.type else {}
    return own | {name: kind for each in of.__subclasses__() for name, kind in kinds(each).items()}
