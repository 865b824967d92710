"""Render a session as text in qbit's summarizer-input format, for the CLI and Python API.

A block of a turn begins with its number, which counts the `started` events, and ends with a blank line. Blocks of tasks
and questions to the user have no number, and stand behind a blank line. Streamed parts, reasoning, warnings, workflows,
and the tool use of sub-agents are left out.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from nous.text.language import tables
from nous.transcript.load import located, opened, read_transcript
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.parsing.values import cut
from nous.transcript.readers.qbit import READER as QBIT
from nous.transcript.recorder.events import TranscriptEvent, read_events

Style = Literal["current", "2025"]

_LIMITS: Mapping[Style, tuple[int, int]] = {"current": (4_000, 6_000), "2025": (2_000, 3_000)}
"""Maximum characters shown of a tool's result, and of a sub-agent's answer."""

_CUT_2025 = {"tool_result": "...[truncated, {} chars total]", "sub_agent_completed": "...[truncated]"}
"""Mark behind the beginning of a longer text, in the older spelling."""

_LINES = tables("nous.transcript.render", "text_form")

_SKIPPED = "ask_human_response skipped"

_IF_NULL = {"input_tokens": "0", "output_tokens": "0", "agent": "auto"}


def format_for_summarizer(
    of: Transcript | Iterable[TranscriptEvent | Mapping[str, Any]],
    *,
    style: Style = "current",
    result_limit: int | None = None,
    response_limit: int | None = None,
    paired: bool = False,
) -> str:
    """Return the text form of a transcript or of events; "" if there are none.

    Longer results and answers of sub-agents keep 70 % of the limit from their beginning and 30 % from their end. The
    style "2025" is the older spelling, which keeps only their beginning. With *paired*, results name the request that
    they answer.
    """
    incoming = _events_of(of) if isinstance(of, Transcript) else of
    events = (event if isinstance(event, TranscriptEvent) else TranscriptEvent.of(event) for event in incoming)
    results, responses = _LIMITS[style]
    limits = {
        ("tool_result", "result"): results if result_limit is None else result_limit,
        ("sub_agent_completed", "response"): responses if response_limit is None else response_limit,
    }
    form = _TextForm({**_LINES["current"], **_LINES[style]}, limits, style, paired=paired)
    return "".join(map(form.block, events))


@dataclass(slots=True)
class _TextForm:
    blocks: Mapping[str, str]
    limits: Mapping[tuple[str, str], int]
    style: Style
    paired: bool
    turn: int = 0

    def block(self, event: TranscriptEvent) -> str:
        name = event.type
        if not event.is_known:
            return ""
        if name == "started":
            self.turn += 1
        elif name in self.blocks:
            return f"[turn {self.turn:03}] {self.blocks[name].format_map(self._values(event))}\n\n"
        elif name in _LINES["outside_turns"]:
            template = _LINES["outside_turns"][_SKIPPED if event.fields.get("skipped") else name]
            return f"\n{template.format_map(self._values(event))}\n"
        return ""

    def _values(self, event: TranscriptEvent) -> Mapping[str, str]:
        values = {name: self._value(event.type, name, value) for name, value in event.fields.items()}
        request = values.get("parent_request_id") or values.get("request_id")
        helper = values.get("agent_name") or values.get("agent_id", "")
        return {**values, "helper": helper, "answer_to": f", id={request}" if self.paired else ""}

    def _value(self, kind: str, name: str, value: object) -> str:
        if value is None and name in _IF_NULL:
            return _IF_NULL[name]
        if name == "risk_level":
            return str(value).capitalize()
        shown = value if isinstance(value, str) and name != "args" else _pretty(value)
        limit = self.limits.get((kind, name), len(shown))
        if self.style == "2025" and len(shown) > limit:
            return shown[:limit] + _CUT_2025[kind].format(len(shown))
        return cut(shown, limit)


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


def _events_of(transcript: Transcript) -> Iterator[Mapping[str, Any]]:
    for entry in transcript:
        if entry.kind is Kind.USER:
            yield {"type": "started", "turn_id": f"turn-{entry.turn}"}
        yield _event(entry)


def _event(entry: Entry) -> Mapping[str, Any]:
    text, tool, request = entry.text, entry.tool or "", entry.call_id or ""
    of_call = {"tool_name": tool, "request_id": request}
    match entry.kind:
        case Kind.USER:
            return {"type": "user_message", "content": text}
        case Kind.ASSISTANT:
            return {"type": "completed", "response": text}
        case Kind.TOOL_CALL:
            return {"type": "tool_request", **of_call, "args": dict(entry.tool_input or {})}
        case Kind.TOOL_RESULT:
            return {"type": "tool_result", **of_call, "result": text, "success": True}
        case Kind.ERROR if request:
            return {"type": "tool_result", **of_call, "result": text, "success": False}
        case Kind.ERROR:
            return {"type": "error", "message": text, "error_type": "error"}
        case Kind.DECISION if text.startswith(("Rejected", "Interrupted")):
            return {"type": "tool_denied", **of_call, "args": {}, "reason": f"The user {text[0].lower()}{text[1:]}"}
        case Kind.DECISION:
            return {"type": "ask_human_response", "request_id": request, "response": text, "skipped": False}
        case Kind.SUB_AGENT:
            helper = {"agent_id": tool or "sub-agent", "parent_request_id": request}
            return {"type": "sub_agent_completed", **helper, "response": text, "duration_ms": 0}
        case Kind.THINKING | Kind.SUMMARY | Kind.SYSTEM:
            return {"type": "warning", "message": text}  # not part of the text form


def build_summarizer_input(
    source: str | Path | BinaryIO,
    session_id: str | None = None,
    *,
    base: Path | str | None = None,
    format: str | None = None,  # noqa: A002  as in read_transcript
    style: Style = "current",
    paired: bool = False,
    look: Callable[[Transcript], object] = lambda _: None,
) -> str:
    """Return the text form of *source*: a path, an open stream, or a session id below *base*.

    With a *session_id*, *source* is the directory of all transcripts. A transcript of events is rendered from its
    events, any other format from its entries. *look* is called with the parsed transcript. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, session_id, base=base)) as stream:
            return build_summarizer_input(stream, format=format, style=style, paired=paired, look=look)
    stream = source if source.seekable() else BytesIO(source.read())
    transcript = read_transcript(stream, format=format)
    look(transcript)
    if transcript.format != QBIT.format:
        return format_for_summarizer(transcript, style=style, paired=paired)
    stream.seek(0)
    return format_for_summarizer(read_events(stream), style=style, paired=paired)
