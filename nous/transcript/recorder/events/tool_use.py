"""Events of tool requests, approvals and results."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nous.transcript.recorder.events.base import MAIN, EventSource, TranscriptEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest(TranscriptEvent):
    TYPE: ClassVar = "tool_request"
    tool_name: str
    args: Any
    request_id: str
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolApprovalRequest(TranscriptEvent):
    """The user is asked to approve a call.

    `risk_level` is low, medium, high or critical.
    """

    TYPE: ClassVar = "tool_approval_request"
    request_id: str
    tool_name: str
    args: Any
    stats: dict[str, Any] | None = None
    risk_level: str
    can_learn: bool
    suggestion: str | None = None
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAutoApproved(TranscriptEvent):
    TYPE: ClassVar = "tool_auto_approved"
    request_id: str
    tool_name: str
    args: Any
    reason: str
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDenied(TranscriptEvent):
    TYPE: ClassVar = "tool_denied"
    request_id: str
    tool_name: str
    args: Any
    reason: str
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(TranscriptEvent):
    TYPE: ClassVar = "tool_result"
    tool_name: str
    result: Any
    success: bool
    request_id: str
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputChunk(TranscriptEvent):
    """Output of a running tool; `stream` is stdout or stderr."""

    TYPE: ClassVar = "tool_output_chunk"
    request_id: str
    tool_name: str
    chunk: str
    stream: str
    source: EventSource = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResponseTruncated(TranscriptEvent):
    TYPE: ClassVar = "tool_response_truncated"
    tool_name: str
    original_tokens: int
    truncated_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerToolStarted(TranscriptEvent):
    """The model provider runs a tool."""

    TYPE: ClassVar = "server_tool_started"
    request_id: str
    tool_name: str
    input: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchResult(TranscriptEvent):
    TYPE: ClassVar = "web_search_result"
    request_id: str
    results: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFetchResult(TranscriptEvent):
    TYPE: ClassVar = "web_fetch_result"
    request_id: str
    url: str
    content_preview: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWarning(TranscriptEvent):
    TYPE: ClassVar = "loop_warning"
    tool_name: str
    current_count: int
    max_count: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBlocked(TranscriptEvent):
    TYPE: ClassVar = "loop_blocked"
    tool_name: str
    repeat_count: int
    max_count: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxIterationsReached(TranscriptEvent):
    TYPE: ClassVar = "max_iterations_reached"
    iterations: int
    max_iterations: int
    message: str
