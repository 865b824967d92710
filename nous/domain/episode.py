"""What a session leaves behind."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from annotated_types import Ge, Interval

from nous.domain.scope import Scope

Share = Annotated[float, Interval(ge=0, le=1)]
"""A number between 0 and 1; whoever reads one from outside refuses anything else, NaN included."""

Turn = Annotated[int, Ge(0)]
"""The number of a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Something that was decided during a session. `turns` are where the transcript shows it; none if it was recorded.

    `stakes` and `category` are in the words of whoever recorded it.
    """

    description: str
    category: str = "decision"
    stakes: str = "unstated"
    confidence: Share = 1.0
    turns: tuple[int, ...] = ()
    at: datetime | None = None

    @classmethod
    def read(cls, said: Mapping[str, object]) -> "Decision | None":
        """What a foreign program calls a decision: an object with a description; None if it has none."""
        text = said.get("description")
        if not isinstance(text, str) or not text.strip():
            return None
        category, stakes, sure = said.get("category"), said.get("stakes"), said.get("confidence")
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
    """How a session ended, for the person who asked."""

    RESOLVED = "resolved"
    PARTIAL = "partial"
    UNRESOLVED = "unresolved"
    INFORMATIONAL = "informational"


class Tier(StrEnum):
    """What wrote a summary."""

    LLM = "llm"
    EXTRACTIVE = "extractive"


class Trust(StrEnum):
    """On whose word something stands, the most trusted first. What a page says anybody may have written."""

    USER = "user"
    SYSTEM = "system"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"

    @property
    def is_doubted(self) -> bool:
        """Whether whoever wrote it may have written it for this place."""
        return self in {Trust.TOOL, Trust.WEB}


class Category(StrEnum):
    """What a fact is about. Only what a user asked for may be a `rule`."""

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
    """What a model has read and written, in its own tokens."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.input + other.input, self.output + other.output)

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFact:
    """Something a session may have taught, before anybody has compared it with what is known.

    `turns` are the numbers of the turns it rests on, `trust` is whose words they are; `confidence` is between 0 and 1;
    `event_date` is ISO 8601.
    """

    text: str
    category: Category = Category.TECHNICAL
    subject: str = ""
    confidence: Share = 0.8
    turns: tuple[Turn, ...] = ()
    event_date: str | None = None
    trust: Trust = Trust.ASSISTANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A session in a few words. Key points are lessons, not events."""

    title: str
    summary: str
    key_points: tuple[str, ...]
    outcome: Outcome
    outcome_rationale: str
    topics: tuple[str, ...]
    open_threads: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it is found by: the title, the summary and the lessons."""
        return " ".join((f"{self.title}.", self.summary, *self.key_points))

    @property
    def still_open(self) -> tuple[str, ...]:
        """The open threads, but for the one that the rationale of the outcome tells already."""
        return tuple(thread for thread in self.open_threads if thread != self.outcome_rationale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Which entries of a transcript an excerpt showed, by their ids: whole, or with how many characters of how many.

    `dropped` counts those that it did not show, by reason.
    """

    whole: tuple[str, ...]
    cut: tuple[tuple[str, int, int], ...]
    dropped: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A session's summary, what it may teach, and where each came from.

    `version` is the sha256 of the transcript, `entries` and `bytes` its size; `seen` says which of its entries the
    summarizer saw, in how many `windows`. `event_id` is the event that led to this version. `edition` counts from 1
    what was made of the session, from longer transcripts or by other means.

    `model`, such as `openai:gpt-5-mini`, and `prompt_version` made it; both are None for an extractive one.
    `outcome_turns` are what the outcome rests on, and `is_sure` is false where nothing shows it. `made_do` says why a
    summary that a model should have made is extractive. `dropped_facts` counts, by reason, what was not let through.
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
    seen: Seen | None = None
    edition: int = 1
    tokens: Tokens | None = None
    is_sure: bool = True
    outcome_turns: tuple[int, ...] = ()
    decisions: tuple[Decision, ...] = ()
    dropped_facts: tuple[tuple[str, int], ...] = ()
    made_do: str | None = None

    @property
    def by(self) -> str:
        """The model and the prompt that made it, as `nous.pipeline.llm_summarizer.Author.by` names them."""
        return f"{self.model} {self.prompt_version}"

    @property
    def state(self) -> str:
        """Names this edition among those of its episode; a commit expects it of the one that it replaces."""
        return self.version if self.edition == 1 else f"{self.version}/{self.edition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSeen:
    """Which transcript an episode was made from: its sha256 in hex, its entries, and its size in bytes."""

    digest: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptSeen:
    """Which part of the transcript the summarizer saw: sha256 in hex, characters, entries left out."""

    digest: str
    chars: int
    dropped: int
