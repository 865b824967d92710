from functools import partial
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, as_lines, read_as

from nous.transcript import Kind, parse_transcript
from nous.transcript.reader import Sample
from nous.transcript.readers.codex import READER

TIME = "2026-08-03T10:48:56.000Z"

read = partial(read_as, "codex")
read_all = partial(read, include=("meta", "thinking"))


def line(kind: str, **payload: Any) -> Record:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> Record:
    return line("response_item", type=kind, **fields)


def event(kind: str, **fields: Any) -> Record:
    return line("event_msg", type=kind, **fields)


def message(role: str, *texts: str) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def called(tool: str, arguments: object = None, call_id: str = "c1") -> Record:
    return item("function_call", name=tool, arguments=orjson.dumps(arguments or {}).decode(), call_id=call_id)


def typed(text: str) -> Record:
    return event("user_message", message=text)


LS = called("exec_command", {"cmd": "ls"})
OLD_HEAD = {"id": "old", "timestamp": TIME, "instructions": None, "git": {"branch": "main"}}
"""The first line of a file from before October 2025."""


@pytest.mark.parametrize(
    "found",
    [
        "<environment_context><cwd>/repo</cwd></environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<skill>\n<name>x</name>\n</skill>",
    ],
)
def test_what_codex_puts_in_the_users_place_is_nobodys(found: str) -> None:
    for role in ("user", "developer"):
        (entry,) = read_all(message(role, found)).entries

        assert (entry.kind, entry.is_meta) == (Kind.SYSTEM, True)
        assert read(message(role, found)).entries == ()


def sniff(*found: Record) -> float:
    return READER.sniff(Sample(text="", records=found))


def test_it_is_told_from_others_by_its_envelope() -> None:
    chat = {"timestamp": TIME, "role": "user", "content": "hi"}
    foreign = {"type": "tool_call", "timestamp": TIME, "session_id": "s", "toolName": "x"}

    assert sniff(line("session_meta"), typed("a"), LS) > 0.9
    assert 0.5 < sniff(chat, {"timestamp": TIME, "type": "tool_call", "function": {"name": "git"}}) < 0.9
    assert sniff(OLD_HEAD, chat) == 0.8
    assert sniff() == sniff(chat) == sniff(chat, foreign) == sniff({"type": "response_item"}) == 0


def test_compactions_without_a_summary_are_passed_over_unparsed() -> None:
    payload = b'{"message":"","replacement_history":['
    torn = b'{"timestamp":"2026-08-03T10:48:56.000Z","ordinal":7,"type":"compacted","payload":' + payload + b"\n"

    transcript = parse_transcript(as_lines(typed("a")) + torn, format="codex")

    assert [entry.text for entry in transcript] == ["a"]
    assert transcript.skipped == {"compacted": 1}
    assert read(line("compacted", message="", replacement_history=[])).skipped == {"compacted": 1}
