"""F5: what a summarizer was given and made of it is kept, and nothing overwrites anything."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nous.domain.errors import BadInput
from nous.transcript import save_summarizer_input, save_summary

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_files_are_called_after_session_and_second(tmp_path: Path) -> None:
    base = tmp_path / "not" / "there" / "yet"

    given = save_summarizer_input("s1", "Grüß\r\nGott\n", base=base, clock=lambda: NOW)
    made = save_summary("s1", "안녕", base=base, clock=lambda: NOW)

    assert (given.name, given.read_bytes()) == ("summarizer-input-s1-1767225600.md", "Grüß\r\nGott\n".encode())
    assert (made.name, made.read_text()) == ("summary-s1-1767225600.md", "안녕")


def test_two_in_one_second_are_two_files(tmp_path: Path) -> None:
    paths = [save_summary("s1", text, base=tmp_path, clock=lambda: NOW) for text in ("one", "two", "three")]

    assert [path.read_text() for path in paths] == ["one", "two", "three"]


def test_without_a_base_they_are_where_qbit_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert save_summarizer_input("s1", "x").parent == tmp_path / ".qbit" / "artifacts" / "compaction"
    assert save_summary("s1", "x").parent == tmp_path / ".qbit" / "artifacts" / "summaries"


def test_an_id_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        save_summary("../x", "x", base=tmp_path)
