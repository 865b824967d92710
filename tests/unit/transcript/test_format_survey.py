"""What would be read of a folder."""

import gzip
import json
from pathlib import Path

from click.testing import CliRunner

from nous.cli.transcripts import formats, survey
from nous.transcript import known_readers


def test_files_are_counted_by_format_and_those_that_are_refused_are_named(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "chat.json").write_text('[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]')
    (tmp_path / "deep" / "more.jsonl").write_text('{"role":"user","content":"yes"}\n{torn\n')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50)

    found = survey([tmp_path], clock=lambda: 0.0)
    output = CliRunner().invoke(formats, [str(tmp_path)]).output
    as_json = json.loads(CliRunner().invoke(formats, [str(tmp_path), "--json"]).output)

    [row] = found.rows.values()
    assert (row.files, row.problems, row.seconds) == (2, 1, 0.0)
    assert [path.name for path in found.refused] == ["picture.png"]
    assert "  entries: user 2, assistant 1\n  passed over: broken line 1\n2 files read, 1 refused\n" in output
    assert "picture.png: this is no transcript that nous can read: it holds binary data" in output
    assert as_json["formats"]["openai_chat"]["entries"] == {"user": 2, "assistant": 1}
    assert len(as_json["refused"]) == 1


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


def test_without_a_path_the_formats_are_listed() -> None:
    assert CliRunner().invoke(formats, []).output.split() == sorted(known_readers())
