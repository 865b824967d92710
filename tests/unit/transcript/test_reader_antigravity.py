from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, Said, read_as, said

from nous.transcript import Kind

read = partial(read_as, "antigravity")

SETTINGS = (
    "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium). "
    "No need to comment on this change.\n</USER_SETTINGS_CHANGE>"
)
METADATA = "<ADDITIONAL_METADATA>\nThe current local time is: now.\n</ADDITIONAL_METADATA>"


def step(number: int, kind: str, content: Any = None, source: str = "MODEL", **more: Any) -> Record:
    about = {"step_index": number, "source": source, "type": kind, "status": "DONE"}
    return {**about, "created_at": "2026-06-26T21:16:16Z", "content": content, **more}


def typed(number: int, content: str) -> Record:
    return step(number, "USER_INPUT", content, "USER_EXPLICIT")


def planned(number: int, *tools: str, content: str | None = None, **args: Any) -> Record:
    calls = [{"name": tool, "args": args} for tool in tools]
    return step(number, "PLANNER_RESPONSE", content, thinking="hm", tool_calls=calls)


def test_what_the_editor_adds_is_left_out_and_a_repeated_step_is_told_once() -> None:
    request = typed(0, f"<USER_REQUEST>\nList the files.\n</USER_REQUEST>\n{METADATA}\n{SETTINGS}")
    came = step(2, "GENERIC", "Created At: now\nCompleted At: now\nThe command completed successfully.")

    transcript = read(request, planned(1, "run_command"), came, request)

    assert said(transcript)[0] == (Kind.USER, "List the files.")
    assert said(transcript)[2:] == [(Kind.TOOL_RESULT, "The command completed successfully.")]
    assert transcript.header.model == "Gemini 3.5 Flash (Medium)"
    assert transcript.skipped == {"thinking": 1, "repeated step": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("fix it", [(Kind.USER, "fix it")]),
        (f"fix it\n{METADATA}", [(Kind.USER, "fix it")]),
        ("<USER_REQUEST>\nfix <b>it</b>\n</USER_REQUEST>", [(Kind.USER, "fix <b>it</b>")]),
        ("<USER_REQUEST>\nfix it and then", [(Kind.USER, "fix it and then")]),
    ],
)
def test_only_the_request_is_the_users(content: str, expected: Said) -> None:
    assert said(read(typed(0, content))) == expected
    for source in ("SYSTEM", "MODEL", "USER_IMPLICIT"):
        assert said(read(step(0, "USER_INPUT", content, source))) == []


def test_a_denied_call_is_the_users_no() -> None:
    denial = "permission check failed for command: user denied permission for command(rm a)"

    for kind, source in (("RUN_COMMAND", "MODEL"), ("ERROR_MESSAGE", "SYSTEM")):
        denied = step(2, kind, denial, source, status="ERROR")
        assert said(read(planned(1, "run_command"), denied))[-1] == (Kind.DECISION, "Rejected run_command")
    cancelled = step(2, "RUN_COMMAND", "stop", status="CANCELED")
    assert said(read(planned(1, "run_command"), cancelled))[-1] == (Kind.DECISION, "Rejected run_command: stop")


@pytest.mark.parametrize("text", ["The command exited with code 2.", "The command failed with exit code: 1\nOutput:\n"])
def test_a_command_fails_by_its_exit_code(text: str) -> None:
    assert read(step(1, "RUN_COMMAND", text)).entries[0].is_error
    assert read(planned(1, "run_command"), step(2, "GENERIC", text)).entries[1].is_error
    assert not read(step(1, "VIEW_FILE", text)).entries[0].is_error
