from typing import Any

import orjson
import pytest
from builders.transcripts import Record, Said, read_as, said

from nous.transcript import Kind, Transcript, parse_transcript


def message(role: str, content: object = "", **more: Any) -> Record:
    return {"role": role, "content": content, **more}


def session(*messages: Record, **more: Any) -> bytes:
    about = {"session_id": "s1", "platform": "cli", "session_start": "2026-04-29T20:00:00Z", "model": "m"}
    return orjson.dumps({**about, **more, "messages": list(messages)}, option=orjson.OPT_INDENT_2)


def read(*messages: Record, **more: Any) -> Transcript:
    return parse_transcript(session(*messages, **more), format="hermes")


CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"pwd"}'}}


COMPACTED = "[CONTEXT COMPACTION - REFERENCE ONLY] Earlier: ..."
PICTURED = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (message("system", "You are Hermes."), [(Kind.SYSTEM, "You are Hermes.")]),
        (message("user", COMPACTED), [(Kind.SUMMARY, COMPACTED)]),
        (
            message("assistant", COMPACTED, tool_calls=[CALL]),
            [(Kind.SUMMARY, COMPACTED), (Kind.TOOL_CALL, 'terminal(cmd="pwd")')],
        ),
        (message("user", PICTURED), [(Kind.USER, "look")]),
        (message("user", "[IMPORTANT: Background process 7 finished]"), []),
    ],
)
def test_a_message_is_of_whoever_said_it(found: Record, expected: Said) -> None:
    assert said(read(found)) == expected
    assert said(read(found, system_prompt="Be."))[:1] == [(Kind.SYSTEM, "Be.")]


@pytest.mark.parametrize(
    ("content", "more", "kind"),
    [
        ('{"output": "", "exit_code": 1, "error": null}', {}, Kind.ERROR),
        ('{"output": "x", "exit_code": 0, "error": null}', {}, Kind.TOOL_RESULT),
        ('{"error": "no such file"}', {}, Kind.ERROR),
        ('{"success": false}', {}, Kind.ERROR),
        ("{torn", {}, Kind.TOOL_RESULT),
    ],
)
def test_a_result_that_says_it_failed_is_an_error(content: str, more: Record, kind: Kind) -> None:
    result = message("tool", content, tool_call_id="c1", tool_name="terminal", **more)

    entry = read(message("assistant", None, tool_calls=[CALL]), result).entries[-1]

    assert (entry.kind, entry.text, entry.tool, entry.call_id) == (kind, content, "terminal", "c1")


def test_the_lines_of_a_transcript_are_messages() -> None:
    lines = [
        message("session_meta", model="m2", tools=[], platform="slack"),
        message("user", "hi", timestamp="2026-04-18T19:26:00"),
        message("assistant", "hello"),
    ]

    transcript = read_as(None, *lines)

    assert transcript.format == "hermes"
    assert said(transcript) == [(Kind.USER, "hi"), (Kind.ASSISTANT, "hello")]
    assert transcript.header.model == "m2"
    assert transcript.skipped == {"session_meta": 1}
