"""Calls, their results, and what the user decides on them, in sessions of Copilot."""

from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, read_as, said

from nous.transcript import Kind

read = partial(read_as, "copilot")


def event(kind: str, /, **data: Any) -> Record:
    return {"type": kind, "data": data, "timestamp": "2025-12-18T21:32:05.000Z"}


def asks(*calls: str, tool: str = "bash", words: str = "", **given: Any) -> Record:
    requests = [{"toolCallId": own, "name": tool, "arguments": given or {"command": "ls"}} for own in calls]
    return event("assistant.message", content=words, toolRequests=requests)


def starts(own: str = "c1", tool: str = "bash", **given: Any) -> Record:
    return event("tool.execution_start", toolCallId=own, toolName=tool, arguments=given or {"command": "ls"})


def came(own: str = "c1", words: str = "a.txt", **fields: Any) -> Record:
    found = event("tool.execution_complete", toolCallId=own, success=True, result={"content": words})
    return {**found, "data": {**found["data"], **fields}}


def answers(verdict: str, own: str = "c1", *, request: str = "r1", **fields: Any) -> Record:
    return event("permission.completed", requestId=request, toolCallId=own, result={"kind": verdict, **fields})


ASKED = event("permission.requested", requestId="r1", permissionRequest={"kind": "shell", "toolCallId": "c1"})


def test_a_call_that_began_before_the_answer_was_written_down_comes_once() -> None:
    transcript = read(starts(), asks("c1"), came())

    assert said(transcript) == [(Kind.TOOL_CALL, 'bash(cmd="ls")'), (Kind.TOOL_RESULT, "a.txt")]
    assert [entry.call_id for entry in transcript] == ["c1", "c1"]


@pytest.mark.parametrize(
    ("call", "result", "words"),
    [
        (asks("c1", tool="view", path="/a"), {"content": "<exited with exit code 1>"}, "<exited with exit code 1>"),
        (asks("c1"), {"content": "<exited with exit code 1>\nmore"}, "<exited with exit code 1>\nmore"),
        (asks("c1"), {"contents": [{"type": "text", "text": "a"}, {"type": "image", "data": ""}]}, "a"),
    ],
)
def test_output_is_no_error_though_it_names_an_exit_code(call: Record, result: Record, words: str) -> None:
    assert said(read(call, came(result=result)))[1:] == [(Kind.TOOL_RESULT, words)]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"success": False}, "a.txt"),
        ({"success": False, "result": None, "error": {"message": "boom", "code": "failure"}}, "boom"),
        ({"result": {"content": "no rule\n<exited with exit code 2>"}}, "no rule\n<exited with exit code 2>"),
        (
            {"result": {"content": "<shellId: 3 completed with exit code -1>\n"}},
            "<shellId: 3 completed with exit code -1>",
        ),
    ],
)
def test_a_failed_call_is_an_error(fields: Record, words: str) -> None:
    assert said(read(asks("c1"), came(**fields)))[1:] == [(Kind.ERROR, words)]


def test_a_rejection_is_a_decision_and_comes_once() -> None:
    refused = came(success=False, result=None, error={"message": "The user said no", "code": "rejected"})
    verdict = answers("denied-interactively-by-user", feedback="use make")

    assert said(read(asks("c1"), ASKED, verdict, refused))[1:] == [(Kind.DECISION, 'Rejected bash(cmd="ls"): use make')]
    assert said(read({**refused, "data": {**refused["data"], "parentToolCallId": "t1"}})) == [
        (Kind.DECISION, "Rejected a tool call: The user said no")
    ]
    assert said(read(asks("c1"), refused, verdict))[1:] == [
        (Kind.DECISION, 'Rejected bash(cmd="ls"): The user said no')
    ]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("approved", 'Approved bash(cmd="ls")'),
        ("approved-for-session", 'Approved bash(cmd="ls") for session'),
    ],
)
def test_an_approval_that_was_asked_for_is_a_decision(verdict: str, words: str) -> None:
    for own in ("c1", ""):  # the request names the call where its answer does not
        assert said(read(asks("c1"), ASKED, answers(verdict, own), came()))[1:] == [
            (Kind.DECISION, words),
            (Kind.TOOL_RESULT, "a.txt"),
        ]


@pytest.mark.parametrize("verdict", ["denied-by-rules", "cancelled", "approved"])
def test_what_rules_decide_is_no_decision_of_the_user(verdict: str) -> None:
    asked = ASKED if verdict != "approved" else {**ASKED, "data": {**ASKED["data"], "resolvedByHook": True}}

    transcript = read(asks("c1"), asked, answers(verdict))

    assert len(transcript.entries) == 1
    assert transcript.skipped == {"permission.requested": 1, f"permission.completed: {verdict}": 1}


def test_an_answer_to_a_question_is_a_decision() -> None:
    assert said(read(asks("c1", tool="ask_user", question="Which?"), came(words="User responded: the second")))[1:] == [
        (Kind.DECISION, "Answered: the second")
    ]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ({"approved": True}, "Approved the plan"),
        ({"approved": False, "feedback": "smaller"}, "Rejected the plan: smaller"),
        ({"approved": False}, "Rejected the plan"),
    ],
)
def test_what_the_user_says_to_a_plan_is_a_decision_and_comes_once(verdict: Record, words: str) -> None:
    decided = event("exit_plan_mode.completed", requestId="r", **verdict)

    shown = asks("c1", tool="exit_plan_mode", summary="s")

    assert said(read(shown, decided, came(words="Plan approved!")))[1:] == [(Kind.DECISION, words)]
    assert len(read(shown, came(words="Plan approved!"), decided).entries) == 2


def test_the_result_of_showing_a_plan_tells_the_decision_if_nothing_else_does() -> None:
    shown = asks("c1", tool="exit_plan_mode", summary="s")

    assert said(read(shown, came(words="Plan approved!")))[1:] == [(Kind.DECISION, "Approved the plan")]
    assert said(read(shown, came(words="Plan not approved.")))[1:] == [
        (Kind.DECISION, "Rejected the plan: Plan not approved.")
    ]


def test_a_command_that_the_user_runs_is_theirs_and_its_output_is_not() -> None:
    typed = event("tool.user_requested", toolCallId="c1", toolName="bash", arguments={"command": "git status"})

    transcript = read(typed, starts(), came(words="clean"))

    assert said(transcript) == [(Kind.USER, "! git status"), (Kind.TOOL_RESULT, "clean")]
    assert transcript.entries[1].call_id is None
