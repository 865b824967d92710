"""Events of an agent session as JSON objects tagged by `type`, in qbit's format.

See https://github.com/qbit-ai/qbit. Forks of it have added types, and newer programs add fields: both are kept
unchanged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from nous.transcript.io.byte_source import ByteSource
from nous.transcript.io.lines import ReadPosition
from nous.transcript.io.records import records
from nous.transcript.load import located, opened
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.values import parse_time

STAMP = "_timestamp"
_ENVELOPE = frozenset({"type", STAMP, "seq", "ts"})

_TABLE = """
started: turn_id
user_message: content
system_hooks_injected: hooks=list
text_delta: delta accumulated
reasoning: content
completed: response reasoning~ input_tokens=int? output_tokens=int? duration_ms=int?
error: message error_type
warning: message
plan_updated: version=int summary=dict steps=list explanation?
context_warning: utilization=float total_tokens=int max_tokens=int
context_pruned: messages_removed=int tokens_freed=int utilization_before=float utilization_after=float
compaction_started: tokens_before=int messages_before=int
compaction_completed: tokens_before=int messages_before=int messages_after=int summary_length=int summary?
  summarizer_input?
compaction_failed: tokens_before=int messages_before=int error summarizer_input?
loop_warning: tool_name current_count=int max_count=int message
loop_blocked: tool_name repeat_count=int max_count=int message
max_iterations_reached: iterations=int max_iterations=int message

tool_request: tool_name args=any request_id source=dict
tool_approval_request: request_id tool_name args=any stats=dict? risk_level can_learn=bool suggestion? source=dict
tool_auto_approved: request_id tool_name args=any reason source=dict
tool_denied: request_id tool_name args=any reason source=dict
tool_result: tool_name result=any success=bool request_id source=dict
tool_output_chunk: request_id tool_name chunk stream source=dict
tool_response_truncated: tool_name original_tokens=int truncated_tokens=int
server_tool_started: request_id tool_name input=any
web_search_result: request_id results=any
web_fetch_result: request_id url content_preview

sub_agent_started: agent_id agent_name task depth=int parent_request_id
sub_agent_tool_request: agent_id tool_name args=any request_id parent_request_id
sub_agent_tool_result: agent_id tool_name success=bool result=any request_id parent_request_id
sub_agent_completed: agent_id response duration_ms=int parent_request_id
sub_agent_error: agent_id error parent_request_id
prompt_generation_started: agent_id parent_request_id architect_system_prompt architect_user_message
prompt_generation_completed: agent_id parent_request_id generated_prompt? success=bool duration_ms=int
workflow_started: workflow_id workflow_name session_id
workflow_step_started: workflow_id step_name step_index=int total_steps=int
workflow_step_completed: workflow_id step_name output? duration_ms=int
workflow_completed: workflow_id final_output total_duration_ms=int
workflow_error: workflow_id step_name? error

sub_agent_text_delta: agent_id delta accumulated parent_request_id
ask_human_request: request_id question input_type options=list context=any
ask_human_response: request_id response skipped=bool
task_progress: task_id status message
task_resumed: task_id subtask_index=int total_subtasks=int
subtask_created: task_id subtask_id title agent?
subtask_completed: task_id subtask_id title result
subtask_waiting_for_input: task_id subtask_id title prompt
subtask_user_input: task_id subtask_id input
enricher_result: task_id subtask_id context_added=any
"""
"""Each event type with its fields, in the order in which they are written: qbit's, then those of forks.

A field is text unless a type follows. `?` marks a field that is written as null if it is absent, and `~` one that is
left out.
"""

_LEFT_OUT_OF_SOURCE = frozenset({"step_name", "step_index"})
"""Fields of a workflow's `source` (who called a tool) that are left out if they are absent."""

_TYPES = {kind.__name__: kind for kind in (str, int, float, bool, list, dict)}


class EventField(NamedTuple):
    """A field of an event: its type, and its mark for what is written if it is absent."""

    type: str
    if_absent: str

    def fits(self, value: object) -> bool:
        """Return whether *value* has this type.

        A whole number is a float too, but a boolean is no number.
        """
        if self.type == "any" or (value is None and self.if_absent):
            return True
        if isinstance(value, bool):
            return self.type == "bool"
        return isinstance(value, _TYPES[self.type]) or (self.type == "float" and isinstance(value, int))


def _parsed_field(written: str) -> tuple[str, EventField]:
    name, _, kind = written.rstrip("?~").partition("=")
    return name, EventField(kind or "str", written[-1] if written[-1] in "?~" else "")


_ROWS = (line.split(":") for line in _TABLE.replace("\n  ", " ").splitlines() if line)
EVENT_TYPES = {name: dict(map(_parsed_field, fields.split())) for name, fields in _ROWS}


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """Something that happened in a session, as the agent reports it.

    `fields` are those of its type, then the ones that a newer program added. An event of unknown type, or without the
    fields of its type, is not `is_known`; its fields are kept as they are.
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
        """Return the event as a JSON object."""
        return {**({"type": self.type} if self.type else {}), **self.fields}


def _completed(shape: Mapping[str, EventField], given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *given* in the order of *shape*, with null for what is absent.

    None if it has another shape.
    """
    if "source" in shape:
        source = given.get("source", {"type": "main"})
        given = {**given, "source": _without_null(source) if isinstance(source, dict) else source}
    found: dict[str, Any] = {}
    for name, field in shape.items():
        value = given.get(name)
        if (name not in given and not field.if_absent) or not field.fits(value):
            return None
        if value is not None or field.if_absent != "~":
            found[name] = value
    return {**found, **{name: value for name, value in given.items() if name not in shape}}


def _without_null(source: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in source.items() if value is not None or name not in _LEFT_OUT_OF_SOURCE}


class StoredEvent(NamedTuple):
    """An event with its time and line number."""

    event: TranscriptEvent
    time: datetime | None
    line: int


def read_events(
    source: str | Path | BinaryIO, *, base: Path | str | None = None, notes: ReadNotes | None = None
) -> Iterator[StoredEvent]:
    """Yield the events in *source*, a path, an open stream or a session id, in file order.

    Lines, a pretty array, and an array followed by lines are all read. Damaged content is skipped and counted in
    *notes*; everything else is still read. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from read_events(stream, notes=notes)
        return
    for record in records(ByteSource.on(source).buffered(), notes or ReadNotes(), ReadPosition()):
        yield StoredEvent(TranscriptEvent.of(record.value), parse_time(record.value.get(STAMP)), record.line)
