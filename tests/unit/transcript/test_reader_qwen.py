from io import BytesIO
from typing import Any

import orjson
import pytest

from nous.transcript import Entry, Kind, Transcript, parse_transcript, read_transcript
from nous.transcript.io.lines import ReadPosition
from nous.transcript.model import ReadNotes
from nous.transcript.readers.qwen import READER

CONTEXT = "<qwen:user-prompt-submit-context>\nby a hook\n</qwen:user-prompt-submit-context>"


def line(own: str, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
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


def system(own: str, subtype: str, **payload: Any) -> dict[str, Any]:
    return {**line(own, "system", subtype=subtype, systemPayload=payload), "message": None}


def answer(own: str, call: str, status: str = "success", **response: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": call, "name": "t", "response": response}}
    return line(own, "tool_result", part, toolCallResult={"callId": call, "status": status, "resultDisplay": "shown"})


ASKED = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}}
SESSION = (
    line("u1", "user", {"text": "List the files."}, {"text": CONTEXT}),
    line(
        "a1",
        "assistant",
        {"text": "hm", "thought": True},
        ASKED,
        model="qwen-x",
        usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 110},
    ),
    answer("r1", "c1", output="a.txt"),
    line("a2", "assistant", {"text": "One file."}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 2}),
)


def as_lines(*records: dict[str, Any]) -> bytes:
    return b"".join(orjson.dumps(found) + b"\n" for found in records)


def read(*records: dict[str, Any]) -> Transcript:
    return parse_transcript(as_lines(*records), format="qwen")


def everything(*records: dict[str, Any]) -> tuple[Entry, ...]:
    return read_transcript(BytesIO(as_lines(*records)), format="qwen", include={"meta", "sidechains"}).entries


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def test_lines_are_recognised_and_read() -> None:
    transcript = parse_transcript(as_lines(*SESSION))

    assert transcript.format == "qwen"
    assert said(transcript) == [
        (Kind.USER, "List the files."),
        (Kind.TOOL_CALL, 'run_shell_command(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One file."),
    ]
    header = transcript.header
    assert (header.session_id, header.cwd, header.git_branch, header.model) == ("s1", "/home/a", "main", "qwen-x")
    assert (header.input_tokens, header.output_tokens) == (105, 12)


def test_records_of_the_system_alone_are_recognised() -> None:
    assert parse_transcript(as_lines(system("s", "session_source", sourceType="cli"), SESSION[0])).format == "qwen"


def test_an_answer_in_several_records_is_told_once() -> None:
    first = line("a1", "assistant", {"text": "Reading."})
    second = line("a1", "assistant", ASKED)

    transcript = read(first, second, second, first)

    assert said(transcript) == [(Kind.ASSISTANT, "Reading."), (Kind.TOOL_CALL, 'run_shell_command(cmd="ls")')]
    assert transcript.skipped == {"repeated record": 2}


def test_what_the_user_typed_counts_not_what_the_model_was_given() -> None:
    shown = line("u", "user", {"text": "a long expansion"}, systemPayload={"displayText": "fix it"})

    assert said(read(shown)) == [(Kind.USER, "fix it")]


def test_a_message_typed_mid_turn_is_the_users() -> None:
    assert said(read(line("u", "user", {"text": "wait"}, subtype="mid_turn_user_message"))) == [(Kind.USER, "wait")]


@pytest.mark.parametrize(
    "more", [{"subtype": "notification"}, {"subtype": "cron"}, {"subtype": "goal_runtime"}, {"provenance": "system"}]
)
def test_prompts_of_a_program_are_nobodys(more: dict[str, str]) -> None:
    record = line("u", "user", {"text": "Task finished."}, **more)

    assert said(read(record)) == []
    assert [(entry.kind, entry.is_meta) for entry in everything(record)] == [(Kind.SYSTEM, True)]


def test_a_cancelled_call_is_the_users_no() -> None:
    no = answer("r", "c1", "cancelled", error="[Operation Cancelled] Reason: User did not allow tool call")

    assert said(read(SESSION[1], no))[-1] == (Kind.DECISION, 'Rejected run_shell_command(cmd="ls")')


def test_a_failed_call_is_an_error_and_an_empty_answer_is_what_was_shown() -> None:
    assert said(read(answer("r", "c1", "error", error="ENOENT"))) == [(Kind.ERROR, "ENOENT")]
    assert said(read(answer("r", "c1"))) == [(Kind.TOOL_RESULT, "shown")]


def test_a_plan_and_an_answer_are_decisions() -> None:
    plan = line("a", "assistant", {"functionCall": {"id": "p", "name": "exit_plan_mode", "args": {"plan": "x"}}})
    question = line("b", "assistant", {"functionCall": {"id": "q", "name": "ask_user_question", "args": {}}})

    transcript = read(
        plan,
        answer("r1", "p", output="User has approved your plan. You can now start coding."),
        question,
        answer("r2", "q", output="User has provided the following answers:\n\n**DB**: Postgres"),
    )

    decisions = [entry.text for entry in transcript if entry.kind is Kind.DECISION]
    assert decisions == ["Approved the plan", "Answered: **DB**: Postgres"]


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


def test_a_compression_leaves_its_summary() -> None:
    history = [
        {"role": "user", "parts": [{"text": "context"}]},
        {"role": "user", "parts": [{"text": "<state_snapshot>x</state_snapshot>"}]},
    ]

    assert said(read(system("s", "chat_compression", compressedHistory=history))) == [
        (Kind.SUMMARY, "<state_snapshot>x</state_snapshot>")
    ]
    assert said(read(system("s", "chat_compression", info={"originalTokenCount": 9000}))) == [
        (Kind.SYSTEM, "Conversation compacted (9000 tokens)")
    ]


def test_the_last_title_counts_and_a_rewind_is_told() -> None:
    transcript = read(
        system("s1", "custom_title", customTitle="Old", titleSource="manual"),
        system("s2", "rewind", truncatedCount=2),
        system("s3", "custom_title", customTitle="New", titleSource="auto"),
    )

    assert transcript.header.title == "New"
    assert said(transcript) == [(Kind.SYSTEM, "Rewound to an earlier point")]


def test_an_error_of_the_api_is_told_and_other_telemetry_only_counted() -> None:
    transcript = read(
        system("s1", "ui_telemetry", uiEvent={"event.name": "qwen-code.api_error", "error_message": "429"}),
        system("s2", "ui_telemetry", uiEvent={"event.name": "qwen-code.api_response"}),
        system("s3", "file_history_snapshot", snapshots=[]),
    )

    assert said(transcript) == [(Kind.ERROR, "API error: 429")]
    assert transcript.skipped == {"system: ui_telemetry": 1, "system: file_history_snapshot": 1}


def test_the_parent_is_told_or_known_from_a_fork() -> None:
    fork = line("u", "user", {"text": "hi"}, forkedFrom={"sessionId": "s0", "messageUuid": "m"})

    assert read(fork).header.parent_session_id == "s0"
    assert read(system("s", "parent_session", parentSessionId="s9"), SESSION[0]).header.parent_session_id == "s9"


def test_the_file_of_a_sub_agent_is_its_own_session_whose_task_nobody_typed() -> None:
    mine = {"isSidechain": True, "agentId": "explore-1"}

    transcript = read(line("u", "user", {"text": "Find it"}, **mine), line("a", "assistant", {"text": "Found"}, **mine))

    assert said(transcript) == [(Kind.SUB_AGENT, "Find it"), (Kind.ASSISTANT, "Found")]
    assert (transcript.header.session_id, transcript.header.parent_session_id) == ("agent-explore-1", "s1")


def test_what_a_sub_agent_says_beside_the_session_is_left_out() -> None:
    aside = line("a", "assistant", {"text": "aside"}, isSidechain=True, agentId="explore-1")

    assert said(read(SESSION[0], aside)) == [(Kind.USER, "List the files.")]
    assert everything(SESSION[0], aside)[-1].agent == "explore-1"


def test_background_work_that_ended_is_a_sub_agents() -> None:
    assert said(read(system("s", "background_task_completed", displayText="Explore is done"))) == [
        (Kind.SUB_AGENT, "Explore is done")
    ]


def test_glued_records_are_both_read() -> None:
    glued = orjson.dumps(SESSION[0]) + orjson.dumps(SESSION[3])

    assert said(parse_transcript(glued)) == [(Kind.USER, "List the files."), (Kind.ASSISTANT, "One file.")]


def test_what_is_not_known_is_counted() -> None:
    transcript = read(
        line("n", "novelty"),
        line("u", "user", {"text": "see"}, {"inlineData": {"data": "AAAA"}}),
        line("e", "user"),
        line("a", "assistant", {"executableCode": {}}),
    )

    assert transcript.skipped == {"novelty": 1, "inlineData part": 1, "empty message": 1, "executableCode part": 1}


def test_values_of_any_type_are_read() -> None:
    odd: list[Any] = [None, 7, True, "x", [[]], {"a": 1}, {"parts": [1, "x", {}]}]
    fields = ("uuid", "type", "message", "systemPayload", "subtype", "toolCallResult", "usageMetadata", "timestamp")
    changed = [{**record, name: value} for name in fields for value in odd for record in SESSION]

    assert read(*changed).problems == ()


def test_a_reading_in_pieces_says_what_a_whole_one_says() -> None:
    lines = as_lines(*SESSION, SESSION[1]).splitlines(keepends=True)
    whole, pieces = READER.begin(ReadNotes()), READER.begin(ReadNotes())
    cursor = ReadPosition()

    expected = list(whole.read(BytesIO(b"".join(lines)), ReadPosition()))
    assert [draft for piece in lines for draft in pieces.read(BytesIO(piece), cursor)] == expected
