from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, outcome, read_as, said

from nous.transcript import Kind

TIME = "2025-12-18T21:32:05.000Z"

read = partial(read_as, "copilot")


def event(kind: str, /, *, own: str = "", agent: str = "", **data: Any) -> Record:
    made = {"type": kind, "data": data, "timestamp": TIME}
    return {**made, **({"id": own} if own else {}), **({"agentId": agent} if agent else {})}


@pytest.mark.parametrize(
    "sent",
    [
        event("user.message", content="Go on.", source="skill-pdf"),
        event("user.message", content="Go on.", isAutopilotContinuation=True),
        event("system.notification", content="Agent done", kind={"type": "agent_completed"}),
    ],
)
def test_what_a_program_sends_in_the_users_place_is_nobodys(sent: Record) -> None:

    assert said(read(sent)) == []
    assert [(entry.kind, entry.is_meta) for entry in read(sent, include=("meta",))] == [(Kind.SYSTEM, True)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (event("session.compaction_complete", success=True, summaryContent="So far"), (Kind.SUMMARY, "So far")),
        (event("session.task_complete", summary="All is done."), (Kind.ASSISTANT, "All is done.")),
        (event("session.snapshot_rewind", eventsRemoved=3), (Kind.SYSTEM, "Went back to an earlier point")),
        (event("subagent.failed", agentName="explore", error="boom"), (Kind.ERROR, "Sub-agent explore: boom")),
        (event("skill.invoked", name="pdf", content="long"), (Kind.SYSTEM, "Skill pdf")),
        (event("session.info", infoType="mcp", message="Connected"), "session.info: mcp"),
        (event("of.next_year"), "of.next_year"),
        (event("user.message", content="", attachments=[{"type": "file"}]), "attached file, empty message"),
    ],
)
def test_an_event_becomes_an_entry_or_is_counted(found: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(found)) == expected


def asks(*calls: str, tool: str = "bash", words: str = "", **given: Any) -> Record:
    requests = [{"toolCallId": own, "name": tool, "arguments": given or {"command": "ls"}} for own in calls]
    return event("assistant.message", content=words, toolRequests=requests)


def starts(own: str = "c1", tool: str = "bash", **given: Any) -> Record:
    return event("tool.execution_start", toolCallId=own, toolName=tool, arguments=given or {"command": "ls"})


def came(own: str = "c1", words: str = "a.txt", **fields: Any) -> Record:
    found = event("tool.execution_complete", toolCallId=own, success=True, result={"content": words})
    return {**found, "data": {**found["data"], **fields}}


def answers(verdict: str, own: str = "c1", **fields: Any) -> Record:
    return event("permission.completed", requestId="r1", toolCallId=own, result={"kind": verdict, **fields})


ASKED = event("permission.requested", requestId="r1", permissionRequest={"kind": "shell", "toolCallId": "c1"})


EXITED = "<exited with exit code 2>"
PICTURED = [{"type": "text", "text": "a"}, {"type": "image", "data": ""}]


@pytest.mark.parametrize(
    ("tool", "fields", "expected"),
    [
        ("view", {"result": {"content": EXITED}}, (Kind.TOOL_RESULT, EXITED)),
        ("bash", {"result": {"content": f"{EXITED}\nmore"}}, (Kind.TOOL_RESULT, f"{EXITED}\nmore")),
        ("bash", {"result": {"content": f"no rule\n{EXITED}"}}, (Kind.ERROR, f"no rule\n{EXITED}")),
        ("bash", {"result": {"content": "<shellId: 3 completed with exit code -1>\n"}}, (Kind.ERROR, None)),
        ("bash", {"result": {"contents": PICTURED}}, (Kind.TOOL_RESULT, "a")),
        ("bash", {"success": False}, (Kind.ERROR, "a.txt")),
        ("bash", {"success": False, "result": None, "error": {"message": "boom"}}, (Kind.ERROR, "boom")),
    ],
)
def test_a_call_that_failed_is_an_error(tool: str, fields: Record, expected: tuple[Kind, str | None]) -> None:
    kind, words = said(read(asks("c1", tool=tool), came(**fields)))[-1]

    assert (kind, words if expected[1] else None) == expected


def test_a_rejection_is_a_decision_and_comes_once() -> None:
    refused = came(success=False, result=None, error={"message": "The user said no", "code": "rejected"})
    verdict = answers("denied-interactively-by-user", feedback="use make")

    assert said(read(asks("c1"), verdict, refused))[1:] == [(Kind.DECISION, 'Rejected bash(cmd="ls"): use make')]
    assert said(read(asks("c1"), refused, verdict))[1:] == [
        (Kind.DECISION, 'Rejected bash(cmd="ls"): The user said no')
    ]
    assert read(asks("c1"), answers("denied-by-rules")).skipped == {"permission.completed: denied-by-rules": 1}


def test_an_approval_that_is_recorded_twice_comes_once() -> None:
    found = said(read(asks("c1"), ASKED, answers("approved"), answers("approved")))

    assert found[1:] == [(Kind.DECISION, 'Approved bash(cmd="ls")')]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("approved", 'Approved bash(cmd="ls")'),
        ("approved-for-session", 'Approved bash(cmd="ls") for session'),
        ("denied-interactively-by-user", 'Rejected bash(cmd="ls")'),
    ],
)
@pytest.mark.parametrize("own", ["c1", ""])  # the request names the call where its answer does not
def test_what_the_user_says_to_a_request_is_a_decision(verdict: str, words: str, own: str) -> None:
    assert said(read(asks("c1"), ASKED, answers(verdict, own), came()))[1:] == [
        (Kind.DECISION, words),
        (Kind.TOOL_RESULT, "a.txt"),
    ]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [({"approved": True}, "Approved the plan"), ({"feedback": "smaller"}, "Rejected the plan: smaller")],
)
def test_what_the_user_says_to_a_plan_is_a_decision_and_comes_once(verdict: Record, words: str) -> None:
    shown = asks("c1", tool="exit_plan_mode", summary="s")
    decided = event("exit_plan_mode.completed", requestId="r", **verdict)

    assert said(read(shown, decided, came(words="Plan approved!")))[1:] == [(Kind.DECISION, words)]
    assert len(read(shown, came(words="Plan approved!"), decided).entries) == 2


@pytest.mark.parametrize(
    ("tool", "words", "decision"),
    [
        ("ask_user", "User responded: the second", "Answered: the second"),
        ("exit_plan_mode", "Plan approved!", "Approved the plan"),
        ("exit_plan_mode", "Plan not approved.", "Rejected the plan: Plan not approved."),
    ],
)
def test_an_answer_to_a_question_or_a_plan_is_a_decision(tool: str, words: str, decision: str) -> None:
    assert said(read(asks("c1", tool=tool), came(words=words)))[1:] == [(Kind.DECISION, decision)]


def test_a_command_that_the_user_runs_is_theirs() -> None:
    typed = event("tool.user_requested", toolCallId="c1", toolName="bash", arguments={"command": "git status"})

    assert said(read(typed, starts(), came(words="clean"))) == [
        (Kind.USER, "! git status"),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "clean"),
    ]
