from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, Said, as_lines, said

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.readers.opencode import READER

SESSION: Record = {
    "id": "ses_1",
    "projectID": "p",
    "directory": "/w",
    "title": "List files",
    "time": {"created": 1_730_000_000_000},
}
ASKED: Record = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1_730_000_001_000}}
ANSWERED: Record = {
    "id": "msg_2",
    "sessionID": "ses_1",
    "role": "assistant",
    "time": {"created": 1_730_000_002_000},
    "modelID": "m-1",
}


def part(own: str, kind: str, **fields: Any) -> Record:
    return {"id": own, "type": kind, **fields}


def bash(**state: Any) -> Record:
    return part("prt_2", "tool", callID="c1", tool="bash", state={"input": {"command": "ls"}, **state})


WORDS = part("prt_1", "text", text="List them.")
DONE = bash(status="completed", output="a.txt\n", metadata={"exit": 0})


def message(info: Record, *parts: Record) -> Record:
    return {"info": info, "parts": list(parts)}


def read(*messages: Record, **session: Any) -> Transcript:
    document = {"info": {**SESSION, **session}, "messages": list(messages)}
    return parse_transcript(orjson.dumps(document), format="opencode")


def answer(*parts: Record, **info: Any) -> Said:
    return said(read(message({**ANSWERED, **info}, *parts)))


def put(root: Path, name: str, value: object) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value))
    return path


def test_the_title_is_one_that_somebody_gave_and_a_list_of_messages_is_a_session_too() -> None:
    listed = parse_transcript(orjson.dumps([message(ASKED, WORDS), message(ANSWERED, DONE)]))

    assert (listed.format, len(listed.entries)) == ("opencode", 3)
    assert read().header.title == "List files"
    assert read(title="New session - 2026-02-03T00:25:13Z").header.title is None


REFUSED = "The user rejected permission to use this specific tool call"


@pytest.mark.parametrize(
    ("parts", "info", "expected"),
    [
        ([bash(status="completed", output="none", metadata={"exit": 1})], {}, (Kind.ERROR, "none")),
        ([bash(status="error", error=f"Error: {REFUSED}.")], {}, (Kind.DECISION, 'Rejected bash(cmd="ls")')),
        (
            [bash(status="error", error=f"{REFUSED} with the following feedback: use eza")],
            {},
            (Kind.DECISION, 'Rejected bash(cmd="ls"): use eza'),
        ),
        ([bash(status="running")], {}, (Kind.TOOL_CALL, 'bash(cmd="ls")')),
        ([], {"error": {"name": "APIError", "data": {"message": "no credit"}}}, (Kind.ERROR, "no credit")),
        ([part("p", "subtask", agent="explore", prompt="Count")], {}, (Kind.SUB_AGENT, "Started explore: Count")),
        (
            [part("p", "retry", attempt=2, error={"data": {"message": "overloaded"}})],
            {},
            (Kind.ERROR, "API error: overloaded (attempt 2)"),
        ),
        ([part("p", "text", text="So far.")], {"summary": True}, (Kind.SUMMARY, "So far.")),
    ],
)
def test_what_became_of_an_answer_is_told(parts: list[Record], info: Record, expected: tuple[Kind, str]) -> None:
    assert answer(*parts, **info)[-1] == expected


def test_what_the_program_added_to_a_prompt_is_not_the_users() -> None:
    added = part("prt_2", "text", text="Called the Read tool", synthetic=True)
    attached = part("prt_4", "file", filename="a.py", url="file:///w/a.py", mime="text/plain")

    transcript = read(message(ASKED, WORDS, added, attached))

    assert said(transcript) == [(Kind.USER, "List them."), (Kind.SYSTEM, "Attached a.py")]
    assert transcript.skipped == {"meta message": 1}
    assert read(message(ANSWERED, added)).skipped == {"meta message": 1}


def test_the_lines_of_a_run_are_read() -> None:
    lines = [
        {"type": "tool_use", "sessionID": "ses_1", "timestamp": 1, "part": {**DONE, "messageID": "msg_2"}},
        {"type": "text", "sessionID": "ses_1", "part": part("prt_3", "text", text="One.", messageID="msg_2")},
        {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError"}},
    ]

    transcript = parse_transcript(as_lines(*lines))

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
def test_one_file_of_the_tree_says_what_it_can(value: Record, kinds: list[Kind], skipped: dict[str, int]) -> None:
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
    put(root, "secret/prt_1.json", WORDS)
    put(root, "message/ses_1/msg_1.json", {**ASKED, "id": own})
    put(root, "part/other/prt_1.json", WORDS)

    gathered = READER.gather(put(root, "session/p/ses_1.json", SESSION))

    assert gathered is not None
    assert orjson.loads(gathered)["messages"][0]["parts"] == []
    assert READER.gather(put(root, "session/p/ses_2.json", {**SESSION, "id": own})) is None
    assert READER.gather(root / "message/ses_1/msg_1.json") is None


def test_what_cannot_be_gathered_is_counted(tmp_path: Path) -> None:
    session = put(tmp_path, "session/p/ses_1.json", SESSION)
    put(tmp_path, "message/ses_1/msg_1.json", ASKED)
    (tmp_path / "message/ses_1/msg_2.json").write_bytes(b'{"id": ')
    put(tmp_path, "part/msg_1/prt_1.json", [1])

    gathered = READER.gather(session)

    assert gathered is not None
    assert parse_transcript(gathered).skipped == {"None part": 1, "message of None": 1}
