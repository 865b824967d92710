"""Render a session as text for summarizers, block by block, in the format of qbit.

Each block begins with its turn number, which counts the `started` events, and ends with a blank line. Everything else
is left out: streamed parts, reasoning, warnings, workflows, and the tool use of sub-agents.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from nous.transcript.load import located, opened, read_transcript
from nous.transcript.model import Transcript
from nous.transcript.parsing.values import cut
from nous.transcript.readers.qbit import READER as QBIT
from nous.transcript.recorder.as_events import events_of
from nous.transcript.recorder.events import EventCodec, TranscriptEvent, conversation, tool_use
from nous.transcript.recorder.events import sub_agents as by
from nous.transcript.recorder.events.codec import read_events

Style = Literal["current", "2025"]

_LIMITS: Mapping[Style, tuple[int, int]] = {"current": (4_000, 6_000), "2025": (2_000, 3_000)}
"""Maximum characters shown of a tool's result, and of a sub-agent's answer."""


def format_for_summarizer(
    of: Transcript | Iterable[TranscriptEvent | Mapping[str, Any]],
    *,
    style: Style = "current",
    result_limit: int | None = None,
    response_limit: int | None = None,
    paired: bool = False,
) -> str:
    """Return the text form of a transcript or of events; "" if there are none.

    The style "2025" is the older spelling. Longer results and answers of sub-agents keep 70 % of the limit from their
    beginning and 30 % from their end. With *paired*, results name the request they answer.
    """
    codec = EventCodec()
    incoming = events_of(of) if isinstance(of, Transcript) else of
    events = (event if isinstance(event, TranscriptEvent) else codec.decode(event) for event in incoming)
    results, responses = _LIMITS[style]
    form = _TextForm(
        is_old=style == "2025",
        result_limit=results if result_limit is None else result_limit,
        response_limit=responses if response_limit is None else response_limit,
        paired=paired,
    )
    return "".join(map(form.block, events))


@dataclass(slots=True)
class _TextForm:
    is_old: bool
    result_limit: int
    response_limit: int
    paired: bool
    turn: int = 0

    def block(self, event: TranscriptEvent) -> str:
        """Return the text that *event* adds."""
        if isinstance(event, conversation.Started):
            self.turn += 1
            return ""
        if said := self._said(event):
            return f"[turn {self.turn:03}] {said}\n\n"
        return _of_task(event)

    def _said(self, event: TranscriptEvent) -> str:
        match event:
            case conversation.UserMessage():
                return f"USER:\n{event.content}"
            case conversation.Completed():
                tokens = f"{event.input_tokens or 0} in / {event.output_tokens or 0} out tokens"
                return f"ASSISTANT ({'completed, ' if self.is_old else ''}{tokens}):\n{event.response}"
            case conversation.Failed():
                return f"ERROR ({event.error_type}): {event.message}"
            case by.SubAgentStarted():
                return f"SUB_AGENT_STARTED (agent={event.agent_name}{self._answer_to(event)}):\n{event.task}"
            case by.SubAgentCompleted():
                response = cut(event.response, self.response_limit)
                return f"SUB_AGENT_COMPLETED (agent={event.agent_id}{self._answer_to(event)}):\n{response}"
            case by.SubAgentError():
                return f"SUB_AGENT_ERROR (agent={event.agent_id}{self._answer_to(event)}): {event.error}"
            case _:
                return self._tool(event)

    def _tool(self, event: TranscriptEvent) -> str:
        match event:
            case tool_use.ToolRequest():
                own = f"{'request_id' if self.is_old else 'id'}={event.request_id}"
                return f"TOOL_REQUEST (tool={event.tool_name}, {own}):\n{_pretty(event.args)}"
            case tool_use.ToolResult():
                shown = _shown(event.result)
                own = f", id={event.request_id}" if self.paired else ""
                about = f"tool={event.tool_name}{own}, success={'true' if event.success else 'false'}"
                return f"TOOL_RESULT ({about}):\n{cut(shown, self.result_limit)}"
            case tool_use.ToolApprovalRequest():
                about = f"tool={event.tool_name}, risk={event.risk_level.capitalize()}"
                return f"TOOL_APPROVAL_REQUEST ({about}):\n{_pretty(event.args)}"
            case tool_use.ToolAutoApproved():
                return f"TOOL_AUTO_APPROVED (tool={event.tool_name}): {event.reason}"
            case tool_use.ToolDenied():
                return f"TOOL_DENIED (tool={event.tool_name}): {event.reason}"
            case _:
                return ""

    def _answer_to(self, event: by.SubAgentStarted | by.SubAgentCompleted | by.SubAgentError) -> str:
        return f", id={event.parent_request_id}" if self.paired else ""


def _of_task(event: TranscriptEvent) -> str:
    """Return the block of a task event or of a question to the user, outside any turn.

    Only forks of qbit write these events.
    """
    match event:
        case conversation.AskHumanRequest():
            said = f"**[Ask Human - {event.input_type}]** {event.question}"
        case conversation.AskHumanResponse():
            said = "*[User skipped the question]*" if event.skipped else f"**[User Response]** {event.response}"
        case by.TaskProgress():
            said = f"**[Task {event.status}]** {event.message}"
        case by.TaskResumed():
            said = f"**[Task Resumed]** from subtask {event.subtask_index}/{event.total_subtasks}"
        case by.SubtaskCreated():
            said = f"**[Subtask Created]** {event.title} (agent: {event.agent or 'auto'})"
        case by.SubtaskCompleted():
            said = f"**[Subtask Completed]** {event.title}\n{event.result}"
        case by.SubtaskWaitingForInput():
            said = f"**[Waiting for Input]** {event.title}: {event.prompt}"
        case by.SubtaskUserInput():
            said = f"**[User Input]** {event.input}"
        case by.EnricherResult():
            said = f"**[Enricher]** {_shown(event.context_added)}"
        case _:
            return ""
    return f"\n{said}\n"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else _pretty(value)


def _pretty(value: object) -> str:
    """Format JSON as serde_json does: two spaces, fields in order, Unicode unescaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        pass
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply to be shown)"


def build_summarizer_input(
    source: str | Path | BinaryIO,
    *,
    base: Path | str | None = None,
    format: str | None = None,  # noqa: A002  as in read_transcript
    style: Style = "current",
    paired: bool = False,
    look: Callable[[Transcript], object] = lambda _: None,
) -> str:
    """Return the text form of *source*: a path, an open stream, or a session id below *base*.

    A transcript of events is rendered from its events, any other format from its entries. *look* is called with the
    parsed transcript. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        path = located(source, base=base)
        with opened(path) as stream:
            return _text(_again(stream), format, style, look, paired=paired)
    return _text(_again(source), format, style, look, paired=paired)


def _again(stream: BinaryIO) -> BinaryIO:
    """Return *stream* in a form that can be read twice."""
    return stream if stream.seekable() else BytesIO(stream.read())


def _text(
    stream: BinaryIO, name: str | None, style: Style, look: Callable[[Transcript], object], *, paired: bool
) -> str:
    transcript = read_transcript(stream, format=name)
    look(transcript)
    if transcript.format != QBIT.format:
        return format_for_summarizer(transcript, style=style, paired=paired)
    stream.seek(0)
    return format_for_summarizer((stored.event for stored in read_events(stream)), style=style, paired=paired)
