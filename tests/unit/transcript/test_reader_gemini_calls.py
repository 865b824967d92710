"""Calls and their results in sessions of Gemini CLI."""

from typing import Any

import pytest
from builders.transcripts import Record, read_as

from nous.transcript import Kind, Transcript


def call(own: str, tool: str, args: Record, status: str = "success", **more: Any) -> Record:
    return {"id": own, "name": tool, "args": args, "status": status, **more}


def came(own: str, **response: Any) -> list[Record]:
    return [{"functionResponse": {"id": own, "name": "t", "response": response}}]


def read(*calls: Record) -> Transcript:
    return read_as("gemini", {"id": "g", "type": "gemini", "toolCalls": calls})


def outcome(tool: str, args: Record, status: str = "success", **response: Any) -> tuple[Kind, str, bool]:
    entry = read(call("c", tool, args, status, result=came("c", **response)))
    return entry.entries[-1].kind, entry.entries[-1].text, entry.entries[-1].is_error


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("[Operation Cancelled] Reason: User did not allow tool call", 'Rejected run_shell_command(cmd="rm a")'),
        ("[Operation Cancelled] Reason: keep a", 'Rejected run_shell_command(cmd="rm a"): keep a'),
        (
            "Command was cancelled by user before it could complete.",
            'Rejected run_shell_command(cmd="rm a"): cancelled while it ran',
        ),
    ],
)
def test_a_cancelled_call_is_the_users_no(text: str, decision: str) -> None:
    found = outcome("run_shell_command", {"command": "rm a"}, "cancelled", error=text)

    assert found == (Kind.DECISION, decision, False)


def test_a_failed_call_is_an_error() -> None:
    assert outcome("read_file", {}, "error", error="File not found") == (Kind.ERROR, "File not found", True)
    assert outcome("read_file", {}, "success", error="File not found") == (Kind.ERROR, "File not found", True)
    assert outcome("exit_plan_mode", {}, output="Plan file is empty.")[0] is Kind.ERROR


@pytest.mark.parametrize(
    ("code", "is_error"), [("0", False), ("(none)", False), ("1", True), ("127", True), ("-1", True)]
)
def test_a_command_fails_by_its_exit_code(code: str, is_error: bool) -> None:  # noqa: FBT001
    text = f"Command: x\nOutput: y\nError: (none)\nExit Code: {code}\nSignal: 0"

    assert outcome("run_shell_command", {"command": "x"}, output=text)[2] is is_error
    assert outcome("read_file", {}, output=text)[2] is False


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Plan approved. Switching to Default mode.", "Approved the plan"),
        (
            "Plan rejected. User feedback: smaller\nsteps\n\nThe plan is stored at: /p\nRevise.",
            "Rejected the plan: smaller\nsteps",
        ),
        ("Plan rejected. No feedback provided.\n\nThe plan is stored at: /p", "Rejected the plan"),
        ("User cancelled the plan approval dialog. The plan was not approved.", "Rejected the plan"),
    ],
)
def test_a_plan_is_approved_or_rejected(text: str, decision: str) -> None:
    assert outcome("exit_plan_mode", {}, output=text) == (Kind.DECISION, decision, False)


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ('{"answers":{"0":"Postgres","1":"yes"}}', "Answered: Postgres; yes"),
        ("User has provided the following answers:\n\n**DB**: Postgres", "Answered: **DB**: Postgres"),
        ("User dismissed ask_user dialog without answering.", "Declined to answer"),
    ],
)
def test_an_answer_to_a_question_is_a_decision(text: str, decision: str) -> None:
    assert outcome("ask_user", {"questions": []}, output=text)[:2] == (Kind.DECISION, decision)
    assert outcome("ask_user", {}, "cancelled", error="")[:2] == (Kind.DECISION, "Rejected ask_user")


def test_a_result_is_taken_from_its_own_answer_or_else_from_what_was_shown() -> None:
    both = [*came("c2", output="other"), *came("c1", output="own")]
    transcript = read(
        call("c1", "glob", {"pattern": "*"}, result=both),
        call("c3", "glob", {"pattern": "*"}, result=[{"text": "as text"}]),
        call("c4", "glob", {"pattern": "*"}, resultDisplay="as shown"),
        call("c5", "glob", {"pattern": "*"}, "executing"),
    )

    results = [entry.text for entry in transcript if entry.kind is Kind.TOOL_RESULT]
    assert results == ["own", "as text", "as shown"]
