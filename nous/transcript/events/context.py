"""What becomes of the context: warnings, compactions, and prompts that are made up."""

from dataclasses import dataclass
from typing import ClassVar

from nous.transcript.events.base import TranscriptEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWarning(TranscriptEvent):
    TYPE: ClassVar = "context_warning"
    utilization: float
    total_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPruned(TranscriptEvent):
    """Only in old transcripts: compaction has taken its place."""

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
