from pathlib import Path

import pytest

from nous.domain.errors import BadInput
from nous.transcript import transcript_path
from nous.transcript.discovery import find_transcript


@pytest.mark.parametrize("session", ["3f1c2f0e-8a77-4a4e-a8d7-0a4b5b1c9d10", "plain", "with space", "..."])
def test_a_plain_name_has_a_directory_of_its_own(session: str, tmp_path: Path) -> None:
    assert transcript_path(session, base=tmp_path) == tmp_path / session / "transcript.json"


@pytest.mark.parametrize("session", ["../x", "a/b", "", " ", "a\0b", "..", ".", "/etc", "a\\b", "a\nb", "x" * 300])
def test_a_name_that_could_lead_elsewhere_is_refused(session: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        transcript_path(session, base=tmp_path)


def test_without_a_base_the_place_is_that_of_qbit() -> None:
    assert transcript_path("s") == Path("~/.qbit/transcripts/s/transcript.json").expanduser()


@pytest.mark.parametrize("place", ["s/transcript.json", "transcript-s.jsonl", "s/transcript-s.jsonl"])
def test_a_transcript_is_found_where_any_release_wrote_it(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.touch()

    assert find_transcript("s", base=tmp_path) == path


def test_a_session_without_a_transcript_has_none(tmp_path: Path) -> None:
    assert find_transcript("s", base=tmp_path) is None
