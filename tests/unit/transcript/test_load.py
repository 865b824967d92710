"""What can be read, from where, and what is refused."""

import gzip
import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from nous.domain.errors import BadInput, NotFound
from nous.transcript import Kind, UnknownFormat, parse_transcript, read_transcript, split_sessions

TEXT = b"User: hi\n\nAssistant: hello\n"
RUN: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "session.txt"
    written.write_bytes(TEXT)
    return written


def test_where_damaged_packed_data_tells_no_format_it_is_the_packed_data_that_is_damaged(path: Path) -> None:
    packed = gzip.compress(b'[{"role": "user", "content": "hi"}]', compresslevel=0)
    path.write_bytes(packed[:40])

    with pytest.raises(UnknownFormat, match=r"^packed data damaged: .*; what comes before the damage is no transcript"):
        read_transcript(path)


def test_a_packed_file_that_was_cut_is_read_up_to_the_cut_and_says_so(path: Path) -> None:
    path.write_bytes(gzip.compress(TEXT * 1000)[:-8])

    transcript = read_transcript(path)

    assert transcript.entries
    assert any("damaged" in reason for reason in transcript.skipped)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b" [ ]\n", b"\xef\xbb\xbf", b"\0\0"])
def test_a_blank_file_is_a_transcript_without_entries(content: bytes, path: Path) -> None:
    path.write_bytes(content)

    assert read_transcript(path).entries == ()


def test_a_format_that_is_named_is_used_whatever_the_content_looks_like() -> None:
    assert read_transcript(BytesIO(TEXT), format="qbit").entries == ()


@pytest.mark.parametrize(
    ("source", "kind", "reason"),
    [
        ("abc", NotFound, "nor a transcript of a session"),
        *((source, NotFound, "no file") for source in ("../x", "a/b", "/no/such/file.jsonl")),
        *((source, BadInput, "names no transcript") for source in ("", "  ", "a\0b")),
        ("x" * 5_000, BadInput, "could not be read: File name too long"),
        ("..", BadInput, "is a directory"),
    ],
)
def test_what_is_no_source_is_refused_with_the_reason(
    source: str | Path, kind: type[Exception], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=reason):
        read_transcript(source, base=tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_refused(path: Path) -> None:
    path.chmod(0)

    with pytest.raises(BadInput, match="Permission denied"):
        read_transcript(path)


def test_messages_at_hand_are_read_as_a_file_of_them_would_be() -> None:
    transcript = parse_transcript([{"role": "user", "content": "hi"}], source="inline")

    assert [(entry.kind, entry.text) for entry in transcript] == [(Kind.USER, "hi")]
    assert transcript == parse_transcript('[{"role":"user","content":"hi"}]', source="inline")
    assert parse_transcript("User: a\ud83d\nAssistant: b").entries[0].text == "a?"
    with pytest.raises(BadInput, match="not JSON"):
        parse_transcript([{"role": "user", "content": object()}])


def test_how_much_output_is_kept_can_be_chosen() -> None:
    text = f"user: go\ntool: {'x' * 100}\n"

    assert len(parse_transcript(text).entries[1].text) == 100
    assert "[truncated 90 chars]" in parse_transcript(text, result_limit=10).entries[1].text


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_each_line_with_messages_is_a_session_called_after_itself_or_file_and_line(tmp_path: Path) -> None:
    own = ({"session_id": "mine", **RUN}, {"id": "../../etc", **RUN}, {"id": 7, **RUN})
    path = written(tmp_path / "runs.jsonl", RUN, RUN, *own)
    path.write_text(path.read_text() + '{"messages": [{"ro')

    sessions = list(split_sessions(path))

    assert [session.id for session in sessions] == ["runs-1", "runs-2", "mine", "runs-4", "runs-5", "runs-6"]
    assert [entry.text for entry in parse_transcript(sessions[1].content)] == ["hi", "hello"]


@pytest.mark.parametrize(
    "records",
    [
        [RUN],
        [RUN["messages"]],
        RUN["messages"],
        [{"type": "user", "uuid": "u", "sessionId": "s"}, {"type": "user", "uuid": "v", "sessionId": "s"}],
    ],
    ids=["one run", "a list", "a message a line", "claude code"],
)
def test_a_file_that_is_one_session_is_not_split(records: list[object], tmp_path: Path) -> None:
    assert list(split_sessions(written(tmp_path / "one.jsonl", *records))) == []
