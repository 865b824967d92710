"""Events of the conversation: turns, prompts, answers, questions and compaction."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nous.transcript.recorder.events.base import TranscriptEvent


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
    """A streamed part of an answer; `accumulated` is all of it so far."""

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
    """The plan changed.

    `summary` counts the steps by status; each of `steps` has a `step` and its `status`.
    """

    TYPE: ClassVar = "plan_updated"
    version: int
    summary: dict[str, Any]
    steps: list[Any]
    explanation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHumanRequest(TranscriptEvent):
    """The agent asks the user a question during a turn."""

    TYPE: ClassVar = "ask_human_request"
    request_id: str
    question: str
    input_type: str
    options: list[Any]
    context: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHumanResponse(TranscriptEvent):
    """The user answers, which counts as a prompt, or skips the question."""

    TYPE: ClassVar = "ask_human_response"
    request_id: str
    response: str
    skipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWarning(TranscriptEvent):
    TYPE: ClassVar = "context_warning"
    utilization: float
    total_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPruned(TranscriptEvent):
    """Messages were removed from the context. Only in old transcripts: replaced by compaction."""

    TYPE: ClassVar = "context_pruned"
    messages_removed: int
    tokens_freed: int
    utilization_before: float
    utilization_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted(TranscriptEvent):
    TYPE: ClassVar = "compaction_started"
    tokens_before: int
    messages_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCompleted(TranscriptEvent):
    TYPE: ClassVar = "compaction_completed"
    tokens_before: int
    messages_before: int
    messages_after: int
    summary_length: int
    summary: str | None = None
    summarizer_input: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFailed(TranscriptEvent):
    TYPE: ClassVar = "compaction_failed"
    tokens_before: int
    messages_before: int
    error: str
    summarizer_input: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGenerationStarted(TranscriptEvent):
    TYPE: ClassVar = "prompt_generation_started"
    agent_id: str
    parent_request_id: str
    architect_system_prompt: str
    architect_user_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGenerationCompleted(TranscriptEvent):
    TYPE: ClassVar = "prompt_generation_completed"
    agent_id: str
    parent_request_id: str
    generated_prompt: str | None = None
    success: bool
    duration_ms: int
