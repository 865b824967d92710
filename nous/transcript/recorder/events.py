"""Schema and value type of qbit's session events (JSON); read them from a transcript file.

Types of its forks, and fields that newer programs add, are kept unchanged. See https://github.com/qbit-ai/qbit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from nous.transcript.io.byte_source import ByteSource
from nous.transcript.io.lines import ReadPosition
from nous.transcript.io.records import records
from nous.transcript.load import located, opened
from nous.transcript.model import ReadNotes

STAMP = "_timestamp"
_ENVELOPE = frozenset({"type", STAMP, "seq", "ts"})

_TABLE = """
started: turn_id
user_message: content
system_hooks_injected: hooks
text_delta: delta accumulated
reasoning: content
completed: response reasoning~ input_tokens? output_tokens? duration_ms?
error: message error_type
warning: message
plan_updated: version summary steps explanation?
context_warning: utilization total_tokens max_tokens
context_pruned: messages_removed tokens_freed utilization_before utilization_after
compaction_started: tokens_before messages_before
compaction_completed: tokens_before messages_before messages_after summary_length summary? summarizer_input?
compaction_failed: tokens_before messages_before error summarizer_input?
loop_warning: tool_name current_count max_count message
loop_blocked: tool_name repeat_count max_count message
max_iterations_reached: iterations max_iterations message

tool_request: tool_name args request_id source
tool_approval_request: request_id tool_name args stats? risk_level can_learn suggestion? source
tool_auto_approved: request_id tool_name args reason source
tool_denied: request_id tool_name args reason source
tool_result: tool_name result success request_id source
tool_output_chunk: request_id tool_name chunk stream source
tool_response_truncated: tool_name original_tokens truncated_tokens
server_tool_started: request_id tool_name input
web_search_result: request_id results
web_fetch_result: request_id url content_preview

sub_agent_started: agent_id agent_name task depth parent_request_id
sub_agent_tool_request: agent_id tool_name args request_id parent_request_id
sub_agent_tool_result: agent_id tool_name success result request_id parent_request_id
sub_agent_completed: agent_id response duration_ms parent_request_id
sub_agent_error: agent_id error parent_request_id
prompt_generation_started: agent_id parent_request_id architect_system_prompt architect_user_message
prompt_generation_completed: agent_id parent_request_id generated_prompt? success duration_ms
workflow_started: workflow_id workflow_name session_id
workflow_step_started: workflow_id step_name step_index total_steps
workflow_step_completed: workflow_id step_name output? duration_ms
workflow_completed: workflow_id final_output total_duration_ms
workflow_error: workflow_id step_name? error

sub_agent_text_delta: agent_id delta accumulated parent_request_id
ask_human_request: request_id question input_type options context
ask_human_response: request_id response skipped
task_progress: task_id status message
task_resumed: task_id subtask_index total_subtasks
subtask_created: task_id subtask_id title agent?
subtask_completed: task_id subtask_id title result
subtask_waiting_for_input: task_id subtask_id title prompt
subtask_user_input: task_id subtask_id input
enricher_result: task_id subtask_id context_added
"""
"""Each event type with its fields, in the order in which they are written: qbit's, then those of forks.

`?` marks a field that is written as null if it is absent, and `~` one that is left out.
"""

_LEFT_OUT_OF_SOURCE = frozenset({"step_name", "step_index"})
"""Fields of a workflow's `source` (who called a tool) that are left out if they are absent."""

EVENT_TYPES = {
    name: {field.rstrip("?~"): field.lstrip("_abcdefghijklmnopqrstuvwxyz") for field in fields.split()}
    for name, fields in (line.split(":") for line in _TABLE.splitlines() if line)
}


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """Something that happened in a session, as the agent reports it.

    `fields` are those of its type, then others. An event of unknown type, or without the fields of its type, is not
    `is_known`; its fields are kept as they are.
    """

    type: str
    fields: Mapping[str, Any]
    is_known: bool = True

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read the event in a JSON object. Never raises."""
        name = value.get("type")
        given = {key: field for key, field in value.items() if key not in _ENVELOPE}
        if not isinstance(name, str) or not name:
            return cls("", {"type": name, **given} if "type" in value else given, is_known=False)
        known = _completed(EVENT_TYPES[name], given) if name in EVENT_TYPES else None
        return cls(name, given if known is None else known, is_known=known is not None)

    def as_json(self) -> dict[str, Any]:
        return {**({"type": self.type} if self.type else {}), **self.fields}


def _completed(shape: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *given* in the order of *shape*, completed with null; None if a field is missing."""
    if "source" in shape:
        source = given.get("source", {"type": "main"})
        if isinstance(source, dict):
            said = cast("dict[str, Any]", source).items()
            source = {name: value for name, value in said if value is not None or name not in _LEFT_OUT_OF_SOURCE}
        given = {**given, "source": source}
    found: dict[str, Any] = {}
    for name, mark in shape.items():
        value = given.get(name)
        if name not in given and not mark:
            return None
        if value is not None or mark != "~":
            found[name] = value
    return {**found, **{name: value for name, value in given.items() if name not in shape}}


def read_events(source: str | Path | BinaryIO, *, base: Path | str | None = None) -> Iterator[TranscriptEvent]:
    """Yield the events in *source*, a path, an open stream or a session id, in file order.

    Damaged content is skipped. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from read_events(stream)
        return
    for record in records(ByteSource.on(source).buffered(), ReadNotes(), ReadPosition()):
        yield TranscriptEvent.of(record.value)
