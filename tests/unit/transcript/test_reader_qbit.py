from collections.abc import Callable
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, as_lines, said

from nous.transcript import Kind, parse_transcript

TIME = "2026-02-03T00:25:13.595123456Z"


def event(kind: str, **fields: Any) -> Record:
    return {"_timestamp": TIME, "type": kind, **fields}


SESSION = [
    event("started", turn_id="t1"),
    event("user_message", content="List the files."),
    event("tool_request", tool_name="Bash", args={"command": "ls"}, request_id="r1", source={"type": "main"}),
    event("tool_result", tool_name="Bash", result="a.txt", success=True, request_id="r1", source={"type": "main"}),
    event("completed", response="One file.", input_tokens=200, output_tokens=100, duration_ms=5),
]


def as_array(*events: Record) -> bytes:
    return orjson.dumps(events, option=orjson.OPT_INDENT_2)


def as_legacy(*events: Record) -> bytes:
    return as_lines(*({**found, "_timestamp": 1_770_078_313_595} for found in events))


def as_array_with_lines(*events: Record) -> bytes:
    return as_array(*events[:2]) + b"\n" + as_lines(*events[2:])


@pytest.mark.parametrize("write", [as_lines, as_array, as_legacy, as_array_with_lines])
def test_all_forms_on_disk_say_the_same(write: Callable[..., bytes]) -> None:
    transcript = parse_transcript(write(*SESSION))

    assert transcript.format == "qbit"
    assert said(transcript) == [
        (Kind.USER, "List the files."),
        (Kind.TOOL_CALL, 'Bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One file."),
    ]
    _, call, result, _ = transcript.entries
    assert call.call_id == result.call_id == "r1"
    assert call.tool_input == {"command": "ls"}
    assert all(entry.time and entry.time.isoformat().startswith("2026-02-03T00:25:13.595") for entry in transcript)
