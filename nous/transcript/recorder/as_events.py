"""Convert transcript entries of any format to session events."""

from collections.abc import Iterator

from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.recorder.events import TranscriptEvent
from nous.transcript.recorder.events.conversation import (
    AskHumanResponse,
    CompactionCompleted,
    Completed,
    Failed,
    Reasoning,
    Started,
    UserMessage,
    Warned,
)
from nous.transcript.recorder.events.sub_agents import SubAgentCompleted
from nous.transcript.recorder.events.tool_use import ToolDenied, ToolRequest, ToolResult

_REJECTED = "Rejected"


def events_of(transcript: Transcript) -> Iterator[TranscriptEvent]:
    """Yield the events of *transcript*; each prompt starts a turn."""
    for entry in transcript:
        if entry.kind is Kind.USER:
            yield Started(turn_id=f"turn-{entry.turn}")
        yield _event(entry)


def _event(entry: Entry) -> TranscriptEvent:
    tool, request = entry.tool or "", entry.call_id or ""
    match entry.kind:
        case Kind.USER:
            return UserMessage(content=entry.text)
        case Kind.ASSISTANT:
            return Completed(response=entry.text)
        case Kind.THINKING:
            return Reasoning(content=entry.text)
        case Kind.TOOL_CALL:
            return ToolRequest(tool_name=tool, args=dict(entry.tool_input or {}), request_id=request)
        case Kind.TOOL_RESULT:
            return ToolResult(tool_name=tool, result=entry.text, success=True, request_id=request)
        case Kind.ERROR if request:
            return ToolResult(tool_name=tool, result=entry.text, success=False, request_id=request)
        case Kind.ERROR:
            return Failed(message=entry.text, error_type="error")
        case Kind.DECISION if tool and entry.text.startswith(_REJECTED):
            return ToolDenied(request_id=request, tool_name=tool, args={}, reason=entry.text)
        case Kind.DECISION:
            return AskHumanResponse(request_id=request, response=entry.text, skipped=False)
        case Kind.SUB_AGENT:
            return _helped(tool or "sub-agent", entry.text, request)
        case Kind.SUMMARY:
            return _compacted(entry.text)
        case Kind.SYSTEM:
            return Warned(message=entry.text)


def _helped(agent: str, response: str, request: str) -> TranscriptEvent:
    return SubAgentCompleted(agent_id=agent, response=response, duration_ms=0, parent_request_id=request)


def _compacted(summary: str) -> TranscriptEvent:
    return CompactionCompleted(
        tokens_before=0, messages_before=0, messages_after=0, summary_length=len(summary), summary=summary
    )
