"""What every reader promises, asked of each module in `nous.transcript.readers` with the samples of its format.

Samples are small real files in `tests/transcripts/samples/<format>/`, beside a SOURCE.txt that says whence they are.
"""

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.transcripts import FORMATS, SAMPLES, samples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nous.transcript import Entry, Kind, Transcript, read_transcript
from nous.transcript.follow import ResumePoint, follow
from nous.transcript.io.byte_source import ReadPosition
from nous.transcript.io.records import records
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.turns import EXTRAS

READ = SAMPLES.parent / "read"
"""What the samples of agents' sessions say: a text for each, checked by eye when it was written down."""

ALL = [pytest.param(name, path, id=f"{name}/{path.name}") for name in FORMATS for path in samples_of(name)]


@cache
def undamaged(path: Path, name: str) -> Transcript:
    """What all of *path* says, read once for all examples."""
    return read_transcript(path, format=name)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_samples_that_say_where_they_are_from(name: str) -> None:
    beside_the_tests = [path for path in samples_of(name) if SAMPLES in path.parents]

    assert samples_of(name), f"put a sample of {name} into {SAMPLES / name}"
    missing = [path.parent for path in beside_the_tests if not (path.parent / "SOURCE.txt").is_file()]
    assert missing == [], "a folder of samples has a SOURCE.txt that says where they are from"


@pytest.mark.parametrize(("name", "path"), ALL)
def test_a_sample_is_recognised_and_says_something(name: str, path: Path) -> None:
    transcript = read_transcript(path)

    assert transcript.format == name
    assert 0 < transcript.confidence <= 1
    # The output of `codex exec` holds no prompt.
    speakers = {Kind.ASSISTANT} if name == "codex_exec" else {Kind.USER, Kind.ASSISTANT}
    assert speakers <= {entry.kind for entry in transcript}
    assert transcript.problems == ()


def described(transcript: Transcript) -> str:
    """The header, the entries (whose they are, their ids, calls and texts) and the counts of what is left out."""
    known = {name: value for name, value in asdict(transcript.header).items() if value is not None}
    about = [f"{name}: {value}" for name, value in known.items()]
    said = [
        " | ".join([entry.kind, entry.id, entry.call_id or "-", *filter(None, [entry.agent]), repr(entry.text[:90])])
        for entry in transcript
    ]
    left_out = [f"skipped: {count} {reason}" for reason, count in sorted(transcript.skipped.items())]
    return "\n".join([*about, *said, *left_out, ""])


@pytest.mark.parametrize(
    "expected", sorted(READ.rglob("*.txt")), ids=lambda expected: f"{expected.parent.name}/{expected.stem}"
)
def test_a_sample_says_what_it_said_when_it_was_checked_by_eye(expected: Path) -> None:
    name = expected.parent.name

    transcript = read_transcript(SAMPLES / name / expected.stem, format=name, include=EXTRAS)

    assert described(transcript) == expected.read_text()


@pytest.mark.parametrize(("name", "path"), ALL)
def test_an_entry_knows_where_it_stood(name: str, path: Path) -> None:
    transcript = read_transcript(path, format=name)

    assert all(entry.line > 0 and 0 <= entry.offset < transcript.bytes for entry in transcript)
    assert [entry.offset for entry in transcript] == sorted(entry.offset for entry in transcript)


@pytest.mark.parametrize(("name", "path"), ALL)
def test_a_result_names_a_call_that_was_made(name: str, path: Path) -> None:
    transcript = read_transcript(path, format=name)

    made = {entry.call_id for entry in transcript if entry.kind is Kind.TOOL_CALL}
    answered = {entry.call_id for entry in transcript if entry.kind is Kind.TOOL_RESULT and entry.call_id}
    assert answered <= made


@pytest.mark.parametrize("name", FORMATS)
def test_a_field_of_another_type_stops_no_reading(name: str) -> None:
    seen: set[tuple[str, ...]] = set()
    for path in samples_of(name):
        for record in records(BytesIO(path.read_bytes()), ReadNotes(), ReadPosition()):
            for where, holder, key in _places(record.value):
                if where not in seen:
                    seen.add(where)
                    _read_with_other_types(record.value, holder, key, name)


def _read_with_other_types(record: object, holder: Any, key: str | int, name: str) -> None:
    known = holder[key]
    for other in (["a"], {"a": ["b"]}, 7):
        holder[key] = other
        assert read_transcript(BytesIO(orjson.dumps(record)), format=name).format == name
    holder[key] = known


def _places(value: Any, *above: str) -> Iterator[tuple[tuple[str, ...], Any, str | int]]:
    """Every place in *value*: a path that is the same for all elements of a list, the container, and the key there."""
    is_list = isinstance(value, list)
    for key, inner in [*enumerate(value)] if is_list else [*value.items()] if isinstance(value, dict) else []:
        where = (*above, "*" if is_list else f"{key}", f"{inner}" if key in ("type", "role") else "")
        yield where, value, key
        yield from _places(inner, *where)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(("name", "path"), ALL)
def test_a_file_cut_at_any_byte_says_the_beginning_of_what_the_whole_says(
    name: str, path: Path, data: st.DataObject
) -> None:
    whole = path.read_bytes()
    end = data.draw(st.integers(0, len(whole)), label="end")

    so_far = read_transcript(BytesIO(whole[:end]), format=name)

    said = [(entry.kind, entry.text) for entry in undamaged(path, name)]
    assert [(entry.kind, entry.text) for entry in so_far][:-1] == said[: max(0, len(so_far.entries) - 1)]
    assert len(so_far.problems) <= 1


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize(("name", "path"), ALL)
def test_reading_on_gives_the_same_entries_as_reading_the_whole(
    name: str, path: Path, data: st.DataObject, tmp_path: Path
) -> None:
    whole = path.read_bytes()
    live = tmp_path / "live"
    known: tuple[Entry, ...] = ()
    point: ResumePoint | None = None
    ends = data.draw(st.lists(st.integers(0, len(whole)), max_size=4), label="ends")
    for end in [*sorted(ends), len(whole), len(whole)]:
        live.write_bytes(whole[:end])
        growth = follow(live, point, format=name)
        known = growth.applied_to(known)
        at_once = read_transcript(live, format=name)

        assert known == at_once.entries
        assert (growth.header, growth.skipped) == (at_once.header, at_once.skipped)
        assert growth.resume.last == (known[growth.resume.kept - 1].id if growth.resume.kept else None)
        point = ResumePoint(**orjson.loads(orjson.dumps(growth.resume)))
