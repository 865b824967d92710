from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, as_lines, outcome, read_as, said

from nous.transcript import Kind, parse_transcript

read = partial(read_as, "qbit")
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


def test_a_request_for_approval_does_not_repeat_the_call() -> None:
    asked = event("tool_approval_request", request_id="r1", tool_name="Bash", args={}, risk_level="high")

    assert len(read(SESSION[2], asked).entries) == 1
    assert len(read(asked).entries) == 1


def test_a_denial_is_a_decision_with_its_reason() -> None:
    denied = event("tool_denied", request_id="r1", tool_name="Bash", args={}, reason="not now")

    asked = event("tool_approval_request", request_id="r1", tool_name="Bash", args={})

    assert said(read(SESSION[2], asked, denied))[1] == (Kind.DECISION, 'Rejected Bash(cmd="ls"): not now')


def test_what_a_policy_denies_is_no_decision_of_the_user() -> None:
    denied = event("tool_denied", request_id="r1", tool_name="Bash", args={}, reason="/home/user is off limits")

    assert said(read(SESSION[2], denied))[1] == (Kind.SYSTEM, 'Not allowed: Bash(cmd="ls") (/home/user is off limits)')


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("ask_human_response", {"response": "the second", "skipped": False}, (Kind.USER, "the second")),
        ("ask_human_response", {"response": "", "skipped": True}, (Kind.DECISION, "Declined to answer")),
        ("ask_human_request", {"question": "Which one?"}, (Kind.ASSISTANT, "Which one?")),
        ("subtask_user_input", {"input": "go on"}, (Kind.USER, "go on")),
        ("sub_agent_started", {"agent_name": "coder", "task": "write"}, (Kind.SUB_AGENT, "Started coder: write")),
        ("sub_agent_completed", {"agent_id": "a", "response": "done"}, (Kind.SUB_AGENT, "done")),
        ("sub_agent_error", {"agent_id": "a", "error": "boom"}, (Kind.ERROR, "Sub-agent a: boom")),
        ("error", {"message": "{response} {0}", "error_type": "api"}, (Kind.ERROR, "{response} {0}")),
        ("compaction_completed", {"summary": "So far ..."}, (Kind.SUMMARY, "So far ...")),
        ("max_iterations_reached", {"message": "25 of 25"}, (Kind.ERROR, "25 of 25")),
        ("context_pruned", {"messages_removed": 3}, "context_pruned"),
        ("of_next_year", {"x": 1}, "of_next_year"),
        ("tool_auto_approved", {"request_id": "r"}, "tool_auto_approved"),
        ("completed", {"response": ""}, "empty completed"),
        ("compaction_completed", {"summary": None}, "empty compaction_completed"),
        ("user_message", {"content": None}, "empty message"),
    ],
)
def test_an_event_becomes_an_entry_or_is_counted(kind: str, fields: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(event(kind, **fields))) == expected
