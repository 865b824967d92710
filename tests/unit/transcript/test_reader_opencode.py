from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, said

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
