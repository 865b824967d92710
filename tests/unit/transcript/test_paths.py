"""T8 and F5: where transcripts, summarizer inputs and summaries are."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nous.domain.errors import BadInput
from nous.transcript import TranscriptWriter, save_summarizer_input, save_summary, transcript_path
from nous.transcript.discovery import find_transcript

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("session", ["3f1c2f0e-8a77-4a4e-a8d7-0a4b5b1c9d10", "plain", "with space", "..."])
def test_a_plain_name_has_a_directory_of_its_own(session: str, tmp_path: Path) -> None:
    assert transcript_path(session, base=tmp_path) == tmp_path / session / "transcript.json"


@pytest.mark.parametrize("session", ["../x", "a/b", "", " ", "a\0b", "..", ".", "/etc", "a\\b", "a\nb", "x" * 300])
def test_a_name_that_could_lead_elsewhere_is_refused(session: str, tmp_path: Path) -> None:
    for refuse in (transcript_path, TranscriptWriter):
        with pytest.raises(BadInput):
            refuse(session, base=tmp_path)
    with pytest.raises(BadInput):
        save_summary(session, "x", base=tmp_path)


def test_without_a_base_the_place_is_that_of_qbit() -> None:
    assert transcript_path("s") == Path("~/.qbit/transcripts/s/transcript.json").expanduser()


@pytest.mark.parametrize("place", ["s/transcript.json", "transcript-s.jsonl", "s/transcript-s.jsonl"])
def test_a_transcript_is_found_where_any_release_wrote_it(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.touch()

    assert find_transcript("s", base=tmp_path) == path


def test_files_are_called_after_session_and_second(tmp_path: Path) -> None:
    base = tmp_path / "not" / "there" / "yet"

    given = save_summarizer_input("s1", "Grüß\r\nGott\n", base=base, clock=lambda: NOW)
    made = save_summary("s1", "안녕", base=base, clock=lambda: NOW)

    assert (given.name, given.read_bytes()) == ("summarizer-input-s1-1767225600.md", "Grüß\r\nGott\n".encode())
    assert (made.name, made.read_text()) == ("summary-s1-1767225600.md", "안녕")


def test_two_in_one_second_are_two_files(tmp_path: Path) -> None:
    paths = [save_summary("s1", text, base=tmp_path, clock=lambda: NOW) for text in ("one", "two", "three")]

    assert [path.read_text() for path in paths] == ["one", "two", "three"]
