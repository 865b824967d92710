from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, outcome, read_as, said

from nous.transcript import Kind

START: Record = {
    "type": "session_start",
    "id": "s1",
    "title": "New Session",
    "sessionTitle": "Fix the test",
    "owner": "me",
    "cwd": "/w",
}

read = partial(read_as, "droid")


def message(own: str, role: str, *content: Record, **more: Any) -> Record:
    time = "2026-02-03T00:25:13.000Z"
    return {"type": "message", "id": own, "timestamp": time, "message": {"role": role, "content": content, **more}}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def printed(kind: str, **fields: Any) -> Record:
    return {"type": kind, "session_id": "s2", "timestamp": 1_770_078_313_595, **fields}


def test_in_a_session_that_another_one_called_nobody_typed_anything() -> None:
    transcript = read({**START, "callingSessionId": "s0"}, message("m1", "user", text("Count the files.")))

    assert said(transcript) == [(Kind.SUB_AGENT, "Count the files.")]
    assert transcript.header.parent_session_id == "s0"
    delegated = read(START, message("m1", "user", text("# Task Tool Invocation\nCount.")))
    assert [entry.kind for entry in delegated] == [Kind.SUB_AGENT]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            printed("tool_result", toolCallId="c1", value={"stdout": "a", "stderr": "b", "exitCode": 2}),
            (Kind.ERROR, "Exit code 2\na\nb"),
        ),
        (printed("error", source="cli", message="No key."), (Kind.ERROR, "No key.")),
        ({"type": "compaction_state", "summaryText": "So far: nothing."}, (Kind.SUMMARY, "So far: nothing.")),
        (message("m1", "user", hookEventName="PreToolUse"), "hook"),
        ({"type": "todo_state", "todos": []}, "todo_state"),
    ],
)
def test_an_event_becomes_an_entry_or_is_counted(found: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(found)) == expected
