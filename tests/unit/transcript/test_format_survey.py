"""What would be read of a folder."""

import gzip
import json
from pathlib import Path

from click.testing import CliRunner

from nous.cli.transcripts import formats
from nous.transcript import known_readers


def test_files_are_counted_by_format_and_those_that_are_refused_are_named(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "chat.json").write_text('[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]')
    (tmp_path / "deep" / "more.jsonl").write_text('{"role":"user","content":"yes"}\n{torn\n')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50)

    output = CliRunner().invoke(formats, [str(tmp_path)]).output
    as_json = json.loads(CliRunner().invoke(formats, [str(tmp_path), "--json"]).output)

    assert output.startswith("openai_chat: 2 files\n2 files can be read, 1 refused\n")
    assert "picture.png: this is no transcript that nous can read: it holds binary data" in output
    assert as_json["formats"] == {"openai_chat": 2}
    assert [Path(path).name for path in as_json["refused"]] == ["picture.png"]


def test_what_would_not_be_published_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Sources: collected in May.")
    (tmp_path / "later.gz").write_bytes(gzip.compress(b"User: hi\n\nAssistant: hello\n")[:12])
    (tmp_path / "silent.jsonl").write_text('{"type":"session_meta","payload":{"id":"s1"}}\n')

    found = json.loads(CliRunner().invoke(formats, [str(tmp_path), "--json"]).output)

    assert not found["formats"]
    reasons = {Path(path).name: reason for path, reason in found["refused"].items()}
    assert reasons["notes.txt"].startswith("it looks like no transcript: no speaker was found; ")
    assert reasons["later.gz"].startswith("it tells no speaker before it breaks off: packed data damaged: ")
    assert reasons["silent.jsonl"].startswith("it holds nothing that anybody said (skipped: ")


def test_without_a_path_the_formats_are_listed() -> None:
    assert CliRunner().invoke(formats, []).output.split() == sorted(known_readers())
