from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, outcome, read_as, said

from nous.transcript import Kind

TIME = "2026-05-12T01:02:27.657Z"

read = partial(read_as, "pi")
with_meta = partial(read, include=("meta", "thinking"))


def record(kind: str, **fields: Any) -> Record:
    return {"type": kind, "timestamp": TIME, **fields}


def message(role: str, content: object = None, *, own: str = "", parent: str = "", **fields: Any) -> Record:
    ids = {"id": own, "parentId": parent or None} if own else {}
    words = {} if content is None else {"content": content}
    return record("message", **ids, message={"role": role, **words, **fields})


def text(words: str) -> list[Record]:
    return [{"type": "text", "text": words}]


def called(own: str = "c1", **fields: Any) -> Record:
    return {"type": "toolCall", "id": own, "name": "bash", "arguments": {"command": "ls"}, **fields}


OVERTAKEN = "Skipped due to queued user message."
FOUND = 'A subagent task "count" just completed.\n\nFindings:\ntwo'


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (record("branch_summary", id="x", summary="So far ..."), (Kind.SUMMARY, "So far ...")),
        (message("compactionSummary", summary="So far ..."), (Kind.SUMMARY, "So far ...")),
        (message("branchSummary", summary="So far ..."), (Kind.SUMMARY, "So far ...")),
        (record("label", id="x", targetId="a1", label="checkpoint"), (Kind.SYSTEM, "checkpoint")),
        (message("system", text("Be brief.")), (Kind.SYSTEM, "Be brief.")),
        (message("user", text(FOUND)), (Kind.SUB_AGENT, FOUND)),
        (
            message("user", f"[System Message] [sessionId: 7] {FOUND}"),
            (Kind.SUB_AGENT, f"[System Message] [sessionId: 7] {FOUND}"),
        ),
        (
            message("toolResult", text("exited with code 1"), toolCallId="c1", isError=True),
            (Kind.ERROR, "exited with code 1"),
        ),
        (
            message("toolResult", "no such file", isError=False, details={"status": "error"}),
            (Kind.ERROR, "no such file"),
        ),
        (message("toolResult", text(OVERTAKEN), toolCallId="c1", isError=True), (Kind.TOOL_RESULT, OVERTAKEN)),
        (record("of_next_year"), "of_next_year"),
        (record("compaction", summary=""), "empty compaction"),
        (message("narrator", "x"), "narrator message"),
        (message("user", [{"type": "image", "data": ""}]), "image block"),
        (message("assistant", [{"type": "audio"}]), "audio block"),
        ({"x": 1}, "no type"),
    ],
)
def test_a_record_is_of_whoever_said_it_or_is_counted(found: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(found)) == expected


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (record("custom_message", id="x", customType="ext", content="Injected.", display=True), "Injected."),
        (message("custom", "Injected.", customType="ext"), "Injected."),
        (message("hookMessage", text("Injected.")), "Injected."),
        (message("user", text("[cron:7 daily] Report.")), "[cron:7 daily] Report."),
        (message("user", text("Read HEARTBEAT.md if it exists.")), "Read HEARTBEAT.md if it exists."),
    ],
)
def test_what_a_program_says_in_the_users_place_is_nobodys(found: Record, words: str) -> None:
    assert said(read(found)) == []
    assert [(entry.kind, entry.text, entry.is_meta) for entry in with_meta(found)] == [(Kind.SYSTEM, words, True)]


def test_a_call_that_the_user_stopped_is_a_decision_and_what_it_gave_is_not_the_users() -> None:
    stopped = message("toolResult", text("ok 1\n\nCommand aborted"), toolCallId="c1", isError=True)

    transcript = read(message("assistant", [called()]), stopped)

    assert said(transcript)[1:] == [(Kind.DECISION, 'Interrupted bash(cmd="ls")'), (Kind.TOOL_RESULT, "ok 1")]
    assert [entry.call_id for entry in transcript] == ["c1", "c1", "c1"]


def test_a_shell_command_of_the_user_is_theirs_and_its_output_is_not() -> None:
    worked = message("bashExecution", command="git status", output="clean\n", exitCode=0)
    failed = message("bashExecution", command="make", output="no rule", exitCode=2)
    stopped = message("bashExecution", command="sleep 9", output="", cancelled=True)

    assert said(read(worked, failed, stopped)) == [
        (Kind.USER, "! git status"),
        (Kind.TOOL_RESULT, "clean"),
        (Kind.USER, "! make"),
        (Kind.ERROR, "no rule"),
        (Kind.USER, "! sleep 9"),
        (Kind.DECISION, "Interrupted ! sleep 9"),
    ]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ('<file name="/a.md">\n# Title\n</file>\nSum it up.', (Kind.USER, "Sum it up.")),
        ('<skill name="tdd" location="/s">\nBody\n</skill>\n\nthe parser', (Kind.USER, "/skill:tdd the parser")),
        ('<skill name="tdd" location="/s">\nBody\n</skill>', (Kind.SYSTEM, "/skill:tdd")),
        ("[Mon 2026-03-23 13:12 GMT+1] Buy milk", (Kind.USER, "Buy milk")),
        ("[WhatsApp Ann +43 2026-01-05 10:00] Buy milk\n[message_id: 7]", (Kind.USER, "Buy milk")),
        ("System: [2026-01-05 10:00:00] Node connected\n\nBuy milk", (Kind.USER, "Buy milk")),
        (
            "Message (untrusted metadata):\n```json\n{}\n```\n\nSender (untrusted):\n```json\n{}\n```\nBuy milk",
            (Kind.USER, "Buy milk"),
        ),
        ("[x] first\nSender: me", (Kind.USER, "[x] first\nSender: me")),
    ],
)
def test_only_the_users_own_words_are_taken_from_a_prompt(prompt: str, expected: tuple[Kind, str]) -> None:
    assert said(read(message("user", text(prompt)))) == [expected]
    assert said(read(message("user", prompt))) == [expected]


def test_what_openclaw_repeats_for_a_channel_comes_once_and_names_no_model() -> None:
    first = message("assistant", text("Bought."), model="m-1")
    mirrored = message("assistant", text("Bought."), model="delivery-mirror")
    other = message("assistant", text("Sent."), model="delivery-mirror")

    transcript = read(mirrored, first, mirrored, other)

    assert [entry.text for entry in transcript] == ["Bought.", "Bought.", "Sent."]
    assert transcript.header.model == "m-1"
    assert transcript.skipped == {"repeated message": 1}
