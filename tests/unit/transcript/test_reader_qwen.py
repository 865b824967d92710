from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, read_as, said

from nous.transcript import Kind

read = partial(read_as, "qwen")

CONTEXT = "<qwen:user-prompt-submit-context>\nby a hook\n</qwen:user-prompt-submit-context>"


def line(own: str, kind: str, *parts: Record, **more: Any) -> Record:
    return {
        "uuid": own,
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2026-08-17T12:00:00.000Z",
        "type": kind,
        "cwd": "/home/a",
        "version": "0.21.13",
        "gitBranch": "main",
        "message": {"role": {"assistant": "model"}.get(kind, "user"), "parts": list(parts)},
        **more,
    }


def system(own: str, subtype: str, **payload: Any) -> Record:
    return {**line(own, "system", subtype=subtype, systemPayload=payload), "message": None}


def answer(own: str, call: str, status: str = "success", **response: Any) -> Record:
    part = {"functionResponse": {"id": call, "name": "t", "response": response}}
    return line(own, "tool_result", part, toolCallResult={"callId": call, "status": status, "resultDisplay": "shown"})


PROMPT = line("u1", "user", {"text": "List the files."}, {"text": CONTEXT})
everything = partial(read_as, "qwen", include=("meta", "sidechains"))


HISTORY = [{"parts": [{"text": "context"}]}, {"parts": [{"text": "<state_snapshot>x</state_snapshot>"}]}]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (line("u", "user", {"text": "long"}, systemPayload={"displayText": "fix it"}), (Kind.USER, "fix it")),
        (line("u", "user", {"text": "wait"}, subtype="mid_turn_user_message"), (Kind.USER, "wait")),
        (system("s", "background_task_completed", displayText="Explore is done"), (Kind.SUB_AGENT, "Explore is done")),
        (
            system("s", "chat_compression", compressedHistory=HISTORY),
            (Kind.SUMMARY, "<state_snapshot>x</state_snapshot>"),
        ),
        (answer("r", "c1", "error", error="ENOENT"), (Kind.ERROR, "ENOENT")),
        (answer("r", "c1"), (Kind.TOOL_RESULT, "shown")),
        (
            answer("r", "c1", "cancelled", error="[Operation Cancelled] Reason: User did not allow tool call"),
            (Kind.DECISION, "Rejected t"),
        ),
        (
            system("s1", "ui_telemetry", uiEvent={"event.name": "qwen-code.api_error", "error_message": "429"}),
            (Kind.ERROR, "API error: 429"),
        ),
        (system("s2", "rewind", truncatedCount=2), (Kind.SYSTEM, "Rewound to an earlier point")),
    ],
)
def test_a_record_is_of_whoever_said_it(found: Record, expected: tuple[Kind, str]) -> None:
    assert said(read(found)) == [expected]


def test_a_slash_command_is_an_act_or_with_arguments_the_users_words() -> None:
    transcript = read(
        system("s1", "slash_command", phase="invocation", rawCommand="/about"),
        system("s2", "slash_command", phase="result", rawCommand="/about", outputHistoryItems=[{"type": "about"}]),
        system("s3", "slash_command", phase="invocation", rawCommand="/hidden", hiddenInvocation=True),
        system("s4", "slash_command", phase="invocation", rawCommand="/review main", sentToModel=True),
        line("u1", "user", {"text": "the long prompt of that command"}),
        line("u2", "user", {"text": "thanks"}),
    )

    assert said(transcript) == [(Kind.SYSTEM, "/about"), (Kind.USER, "/review main"), (Kind.USER, "thanks")]
    assert transcript.skipped == {
        "result of a slash command": 1,
        "hidden slash command": 1,
        "prompt of a slash command": 1,
    }


def test_what_a_sub_agent_says_beside_the_session_is_left_out() -> None:
    aside = line("a", "assistant", {"text": "aside"}, isSidechain=True, agentId="explore-1")

    assert said(read(PROMPT, aside)) == [(Kind.USER, "List the files.")]
    assert everything(PROMPT, aside).entries[-1].agent == "explore-1"
