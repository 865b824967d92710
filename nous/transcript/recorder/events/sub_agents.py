"""Events of sub-agents, workflows and tasks."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nous.transcript.recorder.events.base import TranscriptEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentStarted(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_started"
    agent_id: str
    agent_name: str
    task: str
    depth: int
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentToolRequest(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_tool_request"
    agent_id: str
    tool_name: str
    args: Any
    request_id: str
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentToolResult(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_tool_result"
    agent_id: str
    tool_name: str
    success: bool
    result: Any
    request_id: str
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentTextDelta(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_text_delta"
    agent_id: str
    delta: str
    accumulated: str
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentCompleted(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_completed"
    agent_id: str
    response: str
    duration_ms: int
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentError(TranscriptEvent):
    TYPE: ClassVar = "sub_agent_error"
    agent_id: str
    error: str
    parent_request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStarted(TranscriptEvent):
    TYPE: ClassVar = "workflow_started"
    workflow_id: str
    workflow_name: str
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStepStarted(TranscriptEvent):
    TYPE: ClassVar = "workflow_step_started"
    workflow_id: str
    step_name: str
    step_index: int
    total_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStepCompleted(TranscriptEvent):
    TYPE: ClassVar = "workflow_step_completed"
    workflow_id: str
    step_name: str
    output: str | None = None
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowCompleted(TranscriptEvent):
    TYPE: ClassVar = "workflow_completed"
    workflow_id: str
    final_output: str
    total_duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowError(TranscriptEvent):
    TYPE: ClassVar = "workflow_error"
    workflow_id: str
    step_name: str | None = None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress(TranscriptEvent):
    TYPE: ClassVar = "task_progress"
    task_id: str
    status: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResumed(TranscriptEvent):
    TYPE: ClassVar = "task_resumed"
    task_id: str
    subtask_index: int
    total_subtasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskCreated(TranscriptEvent):
    TYPE: ClassVar = "subtask_created"
    task_id: str
    subtask_id: str
    title: str
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskCompleted(TranscriptEvent):
    TYPE: ClassVar = "subtask_completed"
    task_id: str
    subtask_id: str
    title: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskWaitingForInput(TranscriptEvent):
    TYPE: ClassVar = "subtask_waiting_for_input"
    task_id: str
    subtask_id: str
    title: str
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskUserInput(TranscriptEvent):
    """The user answers a subtask, which counts as a prompt."""

    TYPE: ClassVar = "subtask_user_input"
    task_id: str
    subtask_id: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnricherResult(TranscriptEvent):
    TYPE: ClassVar = "enricher_result"
    task_id: str
    subtask_id: str
    context_added: Any
