"""What is said: turns, prompts, answers, and questions in between."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nous.transcript.events.base import TranscriptEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(TranscriptEvent):
    """A turn begins."""

    TYPE: ClassVar = "started"
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(TranscriptEvent):
    TYPE: ClassVar = "user_message"
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemHooksInjected(TranscriptEvent):
    TYPE: ClassVar = "system_hooks_injected"
    hooks: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(TranscriptEvent):
    """A piece of an answer while it is written, and all of it so far."""

    TYPE: ClassVar = "text_delta"
    delta: str
    accumulated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(TranscriptEvent):
    TYPE: ClassVar = "reasoning"
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(TranscriptEvent):
    """The model has answered."""

    TYPE: ClassVar = "completed"
    OMITTED: ClassVar = frozenset({"reasoning"})
    response: str
    reasoning: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(TranscriptEvent):
    TYPE: ClassVar = "error"
    message: str
    error_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(TranscriptEvent):
    TYPE: ClassVar = "warning"
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdated(TranscriptEvent):
    """`summary` counts the steps by status; each of `steps` has a `step` and its `status`."""

    TYPE: ClassVar = "plan_updated"
    version: int
    summary: dict[str, Any]
    steps: list[Any]
    explanation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHumanRequest(TranscriptEvent):
    """The agent asks the user something in the middle of a turn."""

    TYPE: ClassVar = "ask_human_request"
    request_id: str
    question: str
    input_type: str
    options: list[Any]
    context: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHumanResponse(TranscriptEvent):
    """The user answers, which is as good as a prompt, or declines to."""

    TYPE: ClassVar = "ask_human_response"
    request_id: str
    response: str
    skipped: bool
