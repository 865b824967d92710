from pathlib import Path

import orjson
from builders.transcripts import Record, as_lines, said

from nous.transcript import Kind, parse_transcript
from nous.transcript.readers.grok import READER

SUMMARY: Record = {
    "info": {"id": "g1", "cwd": "/w"},
    "generated_title": "Read a file",
    "session_summary": "Read",
    "current_model_id": "grok-x",
    "chat_format_version": 1,
    "head_branch": "main",
    "num_messages": 4,
}
ASKED = {"type": "user", "content": [{"type": "text", "text": "Read it."}], "prompt_index": 0}
CALLED = {
    "type": "assistant",
    "content": "Reading.",
    "tool_calls": [{"id": "c1", "name": "read_file", "arguments": '{"target_file": "/w/a.py"}'}],
    "model_id": "grok-x",
    "model_fingerprint": "fp",
}


def test_the_summary_beside_a_history_is_its_header(tmp_path: Path) -> None:
    history = tmp_path / "chat_history.jsonl"
    history.write_bytes(as_lines(ASKED, CALLED))
    (tmp_path / "summary.json").write_bytes(orjson.dumps(SUMMARY, option=orjson.OPT_INDENT_2))

    gathered = READER.gather(history)

    assert gathered is not None
    assert gathered == READER.gather(tmp_path / "summary.json")
    transcript = parse_transcript(gathered)
    header = transcript.header
    assert (header.session_id, header.title, header.cwd) == ("g1", "Read a file", "/w")
    assert (header.git_branch, header.model) == ("main", "grok-x")
    assert said(transcript)[0] == (Kind.USER, "Read it.")


def test_a_history_alone_and_a_broken_summary_are_all_there_is(tmp_path: Path) -> None:
    history = tmp_path / "chat_history.jsonl"
    history.write_bytes(as_lines(ASKED))
    assert READER.gather(history) is None

    (tmp_path / "summary.json").write_bytes(b"{")

    assert READER.gather(history) is None
    assert READER.gather(tmp_path / "other.jsonl") is None
