"""Value types of an episode: a session's stored summary, candidate facts and provenance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain, repeat
from typing import Annotated, NamedTuple
from uuid import UUID, uuid5

from annotated_types import Ge, Interval

from nous.domain.scope import Scope

NAMESPACE = UUID("6f3b0c1e-7d0a-5b56-9a55-0d1c3f6f2a77")
"""The namespace of every id that nous derives."""

Share = Annotated[float, Interval(ge=0, le=1)]
"""A number between 0 and 1; input outside of that range, or NaN, is refused."""

Turn = Annotated[int, Ge(0)]
"""The number of a turn."""


def episode_id(scope: Scope, session_id: str) -> UUID:
    """Return the id of a session's episode, which is the same in every edition."""
    return uuid5(NAMESPACE, f"episode\n{scope}\n{session_id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision made during a session; `stakes` and `category` are free text of the recorder.

    `turns` are those in which the transcript shows it; none if it was recorded by other means.
    """

    description: str
    category: str = "decision"
    stakes: str = "unstated"
    confidence: Share = 1.0
    turns: tuple[int, ...] = ()
    at: datetime | None = None

    @classmethod
    def read(cls, given: Mapping[str, object]) -> "Decision | None":
        """Read a decision of a foreign program; None if it has no description."""
        text = given.get("description")
        if not isinstance(text, str) or not text.strip():
            return None
        category, stakes, sure = given.get("category"), given.get("stakes"), given.get("confidence")
        return cls(
            description=text,
            category=category if isinstance(category, str) and category else "decision",
            stakes=stakes if isinstance(stakes, str) and stakes else "unstated",
            confidence=float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else 1.0,
        )

    @property
    def line(self) -> str:
        return f"- [{self.category}/{self.stakes}] {self.description} (confidence: {self.confidence:g})"


class Outcome(StrEnum):
    RESOLVED = "resolved"
    PARTIAL = "partial"
    UNRESOLVED = "unresolved"
    INFORMATIONAL = "informational"


class Tier(StrEnum):
    LLM = "llm"
    EXTRACTIVE = "extractive"


class Trust(StrEnum):
    """Origin of a statement, the most trusted first; anybody may have written a web page."""

    USER = "user"
    SYSTEM = "system"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"

    @property
    def word(self) -> str:
        """The speaker in one word: `user`, `agent`, `tool` or `page`."""
        return {Trust.ASSISTANT: "agent", Trust.SYSTEM: "agent", Trust.WEB: "page"}.get(self, self.value)

    @property
    def is_doubted(self) -> bool:
        """Return whether its author may have planted it here deliberately."""
        return self in {Trust.TOOL, Trust.WEB}


class Category(StrEnum):
    """Subject of a fact; only what a user asked for may be a `rule`."""

    PREFERENCE = "preference"
    PERSON = "person"
    RULE = "rule"
    TECHNICAL = "technical"
    CONCEPT = "concept"
    TOOL = "tool"
    EVENT = "event"
    STATUS = "status"
    DECISION = "decision"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens that a model has read and written, as the model counts them."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.input + other.input, self.output + other.output)

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a turn that show a fact, as they stand there."""

    turn: Turn
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFact:
    """A statement of a session that may become a fact; not yet compared with the known ones.

    `turns` support it, `trust` is its origin; `quotes` are those of a model. `confidence` is between 0 and 1.
    `event_date` is ISO 8601.
    """

    text: str
    category: Category = Category.TECHNICAL
    subject: str = ""
    confidence: Share = 0.8
    turns: tuple[Turn, ...] = ()
    event_date: str | None = None
    trust: Trust = Trust.ASSISTANT
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedFact:
    """A candidate that a planted instruction may have made, kept apart until a person decides."""

    candidate: CandidateFact
    reason: str


class Lesson(NamedTuple):
    """A key point, and the turns that it rests on."""

    text: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Short summary of a session; key points are lessons, not events.

    `key_point_turns` has the turns of each key point, in their order; records of older releases have none.
    """

    title: str
    summary: str
    key_points: tuple[str, ...]
    outcome: Outcome
    outcome_rationale: str
    topics: tuple[str, ...]
    open_threads: tuple[str, ...] = ()
    key_point_turns: tuple[tuple[Turn, ...], ...] = ()

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The key points with their turns."""
        return tuple(map(Lesson, self.key_points, chain(self.key_point_turns, repeat(()))))

    def teaching(self, lessons: Iterable[Lesson]) -> "Summary":
        """Return this summary with *lessons* in place of its own."""
        found = tuple(lessons)
        turns = tuple(lesson.turns for lesson in found)
        return replace(
            self, key_points=tuple(lesson.text for lesson in found), key_point_turns=turns if any(turns) else ()
        )

    @property
    def text(self) -> str:
        """Text to search by: the title, the summary and the key points."""
        return " ".join((f"{self.title}.", self.summary, *self.key_points))

    @property
    def still_open(self) -> tuple[str, ...]:
        """Open threads, without the one that the rationale of the outcome repeats."""
        return tuple(thread for thread in self.open_threads if thread != self.outcome_rationale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Summary of a session, its candidate facts, and the provenance of each.

    `version` is the sha256 of the transcript, `entries` and `bytes` are its size. The summarizer saw an excerpt of it
    in `windows` windows; `excerpt_dropped` counts the entries left out. `event_id` is the event that led to this
    version. `edition` counts from 1: a session gets a new edition from a longer transcript or by other means.
    `external_id` is the producer's own id for it, if it sent one.

    `model`, such as `openai:gpt-5-mini`, and `prompt_version` made it; both are None for an extractive one.
    `outcome_turns` are the turns that support the outcome; `is_sure` is false if there is no evidence for it, or if the
    record contradicts a model's, as `contradiction` says. `made_do`
    says why a summary that a model should have made is extractive. `dropped_facts` counts rejected candidate facts by
    reason, `quarantined` ones wait for a person.
    """

    id: UUID
    scope: Scope
    session_id: str
    agent_id: str
    version: str
    summary: Summary
    candidate_facts: tuple[CandidateFact, ...]
    tier: Tier
    event_id: UUID
    ended_at: datetime
    format: str
    entries: int
    bytes: int
    excerpt_digest: str
    excerpt_chars: int
    excerpt_dropped: int
    files_touched: tuple[str, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    model: str | None = None
    prompt_version: str | None = None
    started_at: datetime | None = None
    cwd: str | None = None
    dataref: str | None = None
    windows: int = 1
    edition: int = 1
    tokens: Tokens | None = None
    is_sure: bool = True
    contradiction: str | None = None
    outcome_turns: tuple[int, ...] = ()
    decisions: tuple[Decision, ...] = ()
    dropped_facts: tuple[tuple[str, int], ...] = ()
    quarantined: tuple[QuarantinedFact, ...] = ()
    made_do: str | None = None
    external_id: str | None = None

    @property
    def by(self) -> str:
        """The model and the prompt that made it, in the form of `LlmSummarizer.by`."""
        return f"{self.model} {self.prompt_version}"

    @property
    def state(self) -> str:
        """Identifies this edition of its episode; the precondition of a commit that replaces it."""
        return self.version if self.edition == 1 else f"{self.version}/{self.edition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSeen:
    """Identity of an episode's transcript: its sha256 in hex, its entries and its size."""

    digest: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptSeen:
    """Part of a transcript that a summarizer saw: sha256, characters, entries left out."""

    digest: str
    chars: int
    dropped: int
