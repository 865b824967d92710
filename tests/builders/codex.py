"""Records of Codex's rollouts, and how they are read."""

from functools import partial
from typing import Any

import orjson

from builders.transcripts import Record, Said, read_as
from builders.transcripts import said as said_in
from nous.transcript import Kind

TIME = "2026-08-03T10:48:56.000Z"

read = partial(read_as, "codex")
read_all = partial(read, include=("meta", "thinking"))


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


def said(*found: Record) -> Said:
    return said_in(read(*found))


LS = called("exec_command", {"cmd": "ls"})
MADE = (Kind.TOOL_CALL, 'exec_command(cmd="ls")')
