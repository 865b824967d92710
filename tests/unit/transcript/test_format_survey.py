"""What would be read of a folder."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nous.cli.transcripts import formats
from nous.transcript import Kind, known_readers
from nous.transcript.format_survey import survey


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "chat.json").write_text('[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]')
    (tmp_path / "deep" / "more.jsonl").write_text('{"role":"user","content":"yes"}\n{torn\n')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50)
    return tmp_path


def test_files_are_counted_by_format_and_those_that_are_refused_are_named(folder: Path) -> None:
    found = survey([folder], clock=lambda: 0.0)

    [row] = found.rows.values()
    assert (row.files, row.problems, row.megabytes_per_second) == (2, 1, 0.0)
    assert row.entries == {Kind.USER: 2, Kind.ASSISTANT: 1}
    assert row.skipped == {"broken line": 1}
    assert [path.name for path in found.refused] == ["picture.png"]


def test_the_table_says_what_was_read_and_what_was_not(folder: Path) -> None:
    output = CliRunner().invoke(formats, [str(folder)]).output

    assert "openai_chat" in output
    assert "  entries: user 2, assistant 1\n  passed over: broken line 1\n2 files read, 1 refused\n" in output
    assert "picture.png: this is no transcript that nous can read: it holds binary data" in output


def test_what_would_not_be_published_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Sources: collected in May.")
    (tmp_path / "later.gz").write_bytes(gzip.compress(b"User: hi\n\nAssistant: hello\n")[:12])
    (tmp_path / "silent.jsonl").write_text('{"type":"session_meta","payload":{"id":"s1"}}\n')

    found = survey([tmp_path])

    assert not found.rows
    reasons = {path.name: reason for path, reason in found.refused.items()}
    assert reasons["notes.txt"].startswith("it looks like no transcript: no speaker was found; ")
    assert reasons["later.gz"].startswith("it tells no speaker before it breaks off: packed data damaged: ")
    assert reasons["silent.jsonl"].startswith("it holds nothing that anybody said (skipped: ")


def test_the_same_as_json(folder: Path) -> None:
    found = json.loads(CliRunner().invoke(formats, [str(folder), "--json"]).output)

    assert found["formats"]["openai_chat"]["entries"] == {"user": 2, "assistant": 1}
    assert len(found["refused"]) == 1


def test_without_a_path_the_formats_are_listed() -> None:
    assert CliRunner().invoke(formats, []).output.split() == sorted(known_readers())
