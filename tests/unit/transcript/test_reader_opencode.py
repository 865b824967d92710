from pathlib import Path
from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.readers.opencode import READER, TOO_MUCH, UNREADABLE, gather_session

SESSION: dict[str, Any] = {
    "id": "ses_1",
    "projectID": "p",
    "directory": "/w",
    "title": "List files",
    "time": {"created": 1_730_000_000_000},
}
ASKED: dict[str, Any] = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1_730_000_001_000}}
ANSWERED: dict[str, Any] = {
    "id": "msg_2",
    "sessionID": "ses_1",
    "role": "assistant",
    "time": {"created": 1_730_000_002_000},
    "modelID": "m-1",
}


def part(own: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": own, "type": kind, **fields}


def bash(**state: Any) -> dict[str, Any]:
    return part("prt_2", "tool", callID="c1", tool="bash", state={"input": {"command": "ls"}, **state})


WORDS = part("prt_1", "text", text="List them.")
DONE = bash(status="completed", output="a.txt\n", metadata={"exit": 0})


def message(info: dict[str, Any], *parts: dict[str, Any]) -> dict[str, Any]:
    return {"info": info, "parts": list(parts)}


def read(*messages: dict[str, Any], **session: Any) -> Transcript:
    document = {"info": {**SESSION, **session}, "messages": list(messages)}
    return parse_transcript(orjson.dumps(document), format="opencode")


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def answer(*parts: dict[str, Any], **info: Any) -> list[tuple[Kind, str]]:
    return said(read(message({**ANSWERED, **info}, *parts)))


def put(root: Path, name: str, value: object) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value))
    return path


def test_an_exported_session_is_recognised_and_read() -> None:
    messages = [message(ASKED, WORDS), message(ANSWERED, DONE, part("prt_3", "text", text="One."))]

    transcript = parse_transcript(orjson.dumps({"info": SESSION, "messages": messages}, option=orjson.OPT_INDENT_2))

    assert transcript.format == "opencode"
    assert said(transcript) == [
        (Kind.USER, "List them."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One."),
    ]
    assert [entry.id for entry in transcript] == ["msg_1", "prt_2", "prt_2/1", "msg_2"]
    header = transcript.header
    assert (header.session_id, header.title, header.cwd, header.model) == ("ses_1", "List files", "/w", "m-1")


def test_a_list_of_messages_says_the_same() -> None:
    transcript = parse_transcript(orjson.dumps([message(ASKED, WORDS), message(ANSWERED, DONE)]))

    assert (transcript.format, len(transcript.entries)) == ("opencode", 3)


def test_a_title_that_nobody_gave_is_none() -> None:
    assert read(title="New session - 2026-02-03T00:25:13Z").header.title is None


def test_what_the_program_added_to_a_prompt_is_not_the_users() -> None:
    added = part("prt_2", "text", text="Called the Read tool", synthetic=True)
    ignored = part("prt_3", "text", text="old", ignored=True)
    attached = part("prt_4", "file", filename="a.py", url="file:///w/a.py", mime="text/plain")

    transcript = read(message(ASKED, WORDS, added, ignored, attached))

    assert said(transcript) == [(Kind.USER, "List them."), (Kind.SYSTEM, "Attached a.py")]
    assert transcript.skipped == {"meta message": 1, "ignored text": 1}


def test_in_a_session_with_a_parent_the_calling_agent_speaks() -> None:
    transcript = read(message(ASKED, WORDS), parentID="ses_0")

    assert said(transcript) == [(Kind.SUB_AGENT, "List them.")]
    assert transcript.header.parent_session_id == "ses_0"


def test_a_call_that_failed_is_an_error() -> None:
    assert answer(bash(status="error", error="Error: no such file"))[1] == (Kind.ERROR, "no such file")
    assert answer(bash(status="completed", output="no such file", metadata={"exit": 1}))[1][0] is Kind.ERROR


def test_a_refusal_is_a_decision_with_its_reason() -> None:
    refused = "The user rejected permission to use this specific tool call"

    assert answer(bash(status="error", error=f"Error: {refused}."))[1] == (Kind.DECISION, 'Rejected bash(cmd="ls")')
    assert answer(bash(status="error", error=f"{refused} with the following feedback: use eza"))[1] == (
        Kind.DECISION,
        'Rejected bash(cmd="ls"): use eza',
    )


@pytest.mark.parametrize("status", ["pending", "running", {}])
def test_a_call_that_has_not_ended_has_no_result(status: object) -> None:
    assert [kind for kind, _ in answer(bash(status=status))] == [Kind.TOOL_CALL]


def test_a_result_stands_at_the_time_of_its_end() -> None:
    ended = bash(status="completed", output="", time={"start": 1_730_000_005_000, "end": 1_730_000_009_000})

    made, came = read(message(ANSWERED, ended)).entries

    assert made.time
    assert came.time
    assert (came.time - made.time).total_seconds() == 4


def test_text_that_the_program_put_into_an_answer_is_passed_over() -> None:
    transcript = read(message(ANSWERED, part("prt_1", "text", text="Continue.", synthetic=True)))

    assert (transcript.entries, transcript.skipped) == ((), {"meta message": 1})


def test_the_answer_to_a_compaction_is_a_summary() -> None:
    compacted = message(ASKED, part("prt_1", "compaction", auto=True))
    summary = message({**ANSWERED, "summary": True}, part("prt_2", "text", text="So far: nothing."))

    assert said(read(compacted, summary)) == [
        (Kind.SYSTEM, "Conversation compacted automatically"),
        (Kind.SUMMARY, "So far: nothing."),
    ]


def test_an_interruption_is_the_users_and_other_failures_are_errors() -> None:
    aborted = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
    failed = {"name": "APIError", "data": {"message": "no credit"}}

    assert answer(error=aborted) == [(Kind.SYSTEM, "Interrupted by the user")]
    assert answer(error=failed) == [(Kind.ERROR, "no credit")]


def test_sub_agents_and_retries_are_told() -> None:
    task = part("prt_1", "subtask", agent="explore", description="Count files", prompt="Count all")
    retry = part("prt_2", "retry", attempt=2, error={"data": {"message": "overloaded"}})

    assert answer(task, retry) == [
        (Kind.SUB_AGENT, "Started explore: Count files"),
        (Kind.ERROR, "API error: overloaded (attempt 2)"),
    ]


def test_bookkeeping_is_counted() -> None:
    parts = [part("p", kind) for kind in ("step-start", "snapshot", "patch", "agent", "news")]

    assert read(message(ANSWERED, *parts)).skipped == {
        f"{kind} part": 1 for kind in ("step-start", "snapshot", "patch", "agent", "news")
    }


def test_tokens_are_counted_once_though_steps_and_messages_tell_them() -> None:
    tokens = {"tokens": {"input": 3, "output": 4, "reasoning": 9, "cache": {"read": 2, "write": 1}}}
    step = part("prt_1", "step-finish", **tokens)

    for found in (message(ANSWERED, step), message({**ANSWERED, **tokens}), message({**ANSWERED, **tokens}, step)):
        header = read(found).header
        assert (header.input_tokens, header.output_tokens) == (6, 4)


def test_a_prompt_without_its_parts_is_told_by_its_title_but_not_as_the_users_words() -> None:
    transcript = read(message({**ASKED, "summary": {"title": "Listing files"}}), message({**ASKED, "summary": {}}))

    assert said(transcript) == [(Kind.SYSTEM, "A prompt of which only the title is left: Listing files")]
    assert transcript.skipped == {"message without parts": 1}


def test_the_lines_of_a_run_are_read() -> None:
    lines = [
        {"type": "tool_use", "sessionID": "ses_1", "timestamp": 1, "part": {**DONE, "messageID": "msg_2"}},
        {"type": "text", "sessionID": "ses_1", "part": part("prt_3", "text", text="One.", messageID="msg_2")},
        {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError"}},
    ]

    transcript = parse_transcript(b"\n".join(map(orjson.dumps, lines)))

    assert transcript.format == "opencode"
    assert [kind for kind, _ in said(transcript)] == [Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.ASSISTANT, Kind.ERROR]
    assert transcript.header.session_id == "ses_1"


@pytest.mark.parametrize(
    ("value", "kinds", "skipped"),
    [
        (SESSION, [], {"session without its messages": 1}),
        (ANSWERED, [], {"message without parts": 1}),
        ({**DONE, "messageID": "msg_2"}, [Kind.TOOL_CALL, Kind.TOOL_RESULT], {}),
        ({**WORDS, "messageID": "msg_1"}, [], {"text without its message": 1}),
    ],
)
def test_one_file_of_the_tree_says_what_it_can(
    value: dict[str, Any], kinds: list[Kind], skipped: dict[str, int]
) -> None:
    transcript = parse_transcript(orjson.dumps(value))

    assert transcript.format == "opencode"
    assert [kind for kind, _ in said(transcript)] == kinds
    assert transcript.skipped == skipped


@pytest.mark.parametrize("folder", ["part/msg_1", "part"])
def test_a_tree_is_gathered_in_both_of_its_layouts(tmp_path: Path, folder: str) -> None:
    session = put(tmp_path, "session/p/ses_1.json", SESSION)
    put(tmp_path, "message/ses_1/msg_2.json", ANSWERED)
    put(tmp_path, "message/ses_1/msg_1.json", ASKED)
    put(tmp_path, f"{folder}/prt_1.json", {**WORDS, "messageID": "msg_1"})
    put(tmp_path, f"{folder.replace('msg_1', 'msg_2')}/prt_3.json", {**DONE, "messageID": "msg_2"})
    put(tmp_path, "message/ses_2/msg_9.json", {**ASKED, "id": "msg_9"})

    gathered = READER.gather(session)

    assert gathered is not None
    assert said(parse_transcript(gathered)) == [
        (Kind.USER, "List them."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
    ]


@pytest.mark.parametrize("own", ["../secret", "/etc", "..", "", None, {}])
def test_no_id_leads_out_of_the_tree(tmp_path: Path, own: object) -> None:
    root = tmp_path / "storage"
    put(tmp_path, "secret/prt_1.json", WORDS)
    put(root, "message/ses_1/msg_1.json", {**ASKED, "id": own})
    put(root, "part/other/prt_1.json", WORDS)

    gathered = READER.gather(put(root, "session/p/ses_1.json", SESSION))

    assert gathered is not None
    assert orjson.loads(gathered)["messages"][0]["parts"] == []
    assert READER.gather(put(root, "session/p/ses_2.json", {**SESSION, "id": own})) is None


def test_only_a_sessions_own_file_is_gathered_for(tmp_path: Path) -> None:
    assert READER.gather(put(tmp_path, "message/ses_1/msg_1.json", ASKED)) is None
    assert READER.gather(put(tmp_path, "export.json", {"info": SESSION, "messages": []})) is None


def test_what_cannot_be_gathered_is_counted(tmp_path: Path) -> None:
    session = put(tmp_path, "session/p/ses_1.json", SESSION)
    put(tmp_path, "message/ses_1/msg_1.json", ASKED)
    put(tmp_path, "message/ses_1/msg_2.json", {**ANSWERED, "padding": "x" * 2000})
    (tmp_path / "message/ses_1/msg_3.json").write_bytes(b'{"id": ')
    put(tmp_path, "message/ses_1/msg_4.json", [1])

    gathered = gather_session(session, most=1500)

    assert gathered is not None
    assert len(gathered) < 1500
    assert parse_transcript(gathered).skipped == {TOO_MUCH: 1, UNREADABLE: 2, "message without parts": 1}
