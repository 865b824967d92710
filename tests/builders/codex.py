"""Records of Codex's rollouts, and how they are read."""

from io import BytesIO
from typing import Any

import orjson

from nous.transcript import Kind, Transcript, parse_transcript, read_transcript

TIME = "2026-08-03T10:48:56.000Z"

Record = dict[str, Any]


def line(kind: str, **payload: Any) -> Record:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> Record:
    return line("response_item", type=kind, **fields)


def event(kind: str, **fields: Any) -> Record:
    return line("event_msg", type=kind, **fields)


def done(kind: str, **fields: Any) -> Record:
    return event("item_completed", item={"type": kind, **fields})


def message(role: str, *texts: str) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def called(tool: str, arguments: object = None, call_id: str = "c1") -> Record:
    return item("function_call", name=tool, arguments=orjson.dumps(arguments or {}).decode(), call_id=call_id)


def output(text: object, call_id: str = "c1") -> Record:
    return item("function_call_output", call_id=call_id, output=text)


def typed(text: str) -> Record:
    return event("user_message", message=text)


def answered(text: str) -> Record:
    return event("agent_message", message=text)


def as_lines(*found: Record) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in found)


def read(*found: Record) -> Transcript:
    return parse_transcript(as_lines(*found), format="codex")


def said(*found: Record) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in read(*found)]


def read_all(*found: Record) -> Transcript:
    """With thinking and what a program wrote in somebody's place."""
    return read_transcript(BytesIO(as_lines(*found)), format="codex", include=("meta", "thinking"))


LS = called("exec_command", {"cmd": "ls"})
MADE = (Kind.TOOL_CALL, 'exec_command(cmd="ls")')
