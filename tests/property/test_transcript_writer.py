"""What is written is read again as it was: reader(writer(x)) == x, for whatever an agent may tell."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builders.agent_events import EVENTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nous.transcript import TranscriptEvent, TranscriptWriter, read_events, should_transcript

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def alike(value: object) -> st.SearchStrategy[Any]:
    """Values of the kind that *value* is."""
    match value:
        case bool():
            return st.booleans()
        case int():
            return st.integers(0, 2**53)
        case float():
            return st.floats(allow_nan=False, allow_infinity=False)
        case str():
            return TEXT
        case list():
            return st.lists(JSON, max_size=3)
        case dict():
            return st.dictionaries(TEXT, JSON, max_size=3)
        case _:
            return st.none()


def of_type(kind: str, example: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: st.just(value) if name == "source" else alike(value) for name, value in example.items()}
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


KEPT = [of_type(kind, example) for kind, example in EVENTS.items() if should_transcript(kind)]
NAMES = TEXT.filter(lambda name: name not in {"type", "seq", "ts", "_timestamp"})
UNKNOWN = st.dictionaries(NAMES, JSON, max_size=3).map(lambda fields: {**fields, "type": "of_next_year"})
TOLD = st.lists(st.one_of(*KEPT, UNKNOWN), max_size=8)


def written(told: list[dict[str, Any]], **options: Any) -> list[TranscriptEvent]:
    with TemporaryDirectory() as base:
        writer = TranscriptWriter("s", base=Path(base), clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), **options)
        assert all(writer.append(event) for event in told)
        return list(read_events("s", base=base)) if told else []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(told=TOLD)
def test_what_is_written_is_read_as_it_was_told(told: list[dict[str, Any]]) -> None:
    found = written(told)

    assert found == [TranscriptEvent.of(event) for event in told]
    assert [event.as_json() for event in found] == told
    assert written(told, layout="array") == found
