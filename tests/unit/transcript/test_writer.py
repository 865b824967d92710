"""T2, T5, T7, T8: a transcript that is written while the session happens."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.agent_events import ALL, EVENTS, MAIN, OF_STEP, told

from nous.domain.errors import BadInput
from nous.transcript import TranscriptEvent, TranscriptWriter, read_events, read_transcript, should_transcript
from nous.transcript.recorder.events import EVENT_TYPES

NOW = datetime(2026, 1, 1, 12, 30, 15, 40, tzinfo=UTC)


LONG = {"type": "user_message", "content": "x" * (33 << 20)}


class Unspeakable(dict[str, Any]):
    """What fails in whoever looks at it."""

    def get(self, *_: object) -> Any:
        raise RuntimeError("nobody looks at this")


@pytest.fixture
def writer(tmp_path: Path) -> TranscriptWriter:
    return TranscriptWriter("s1", base=tmp_path, clock=lambda: NOW)


def types(path: Path) -> list[str]:
    return [event.type for event in read_events(path)]


def test_an_event_is_one_compact_line_with_its_time_first(writer: TranscriptWriter) -> None:
    assert writer.append(TranscriptEvent.of(told("user_message", content="Grüß Gott 안녕")))

    line = '{"_timestamp":"2026-01-01T12:30:15.000040Z","type":"user_message","content":"Grüß Gott 안녕"}\n'
    assert writer.path.read_text() == line


def test_the_base_of_the_environment_holds_for_writing_and_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VT_TRANSCRIPT_DIR", str(tmp_path / "elsewhere"))

    TranscriptWriter("s1").append(told("user_message"))

    assert (tmp_path / "elsewhere" / "s1" / "transcript.json").is_file()
    assert len(read_transcript("s1").entries) == 1


def test_what_sub_agents_do_with_tools_is_written_apart(writer: TranscriptWriter) -> None:
    kinds = [kind for kind in EVENTS if kind.startswith("sub_agent")]
    for kind in kinds:
        writer.append(told(kind))

    apart = writer.path.parent / "subagents" / "a1-r1" / "transcript.json"
    assert types(apart) == ["sub_agent_tool_request", "sub_agent_tool_result"]
    assert types(writer.path) == ["sub_agent_started", "sub_agent_completed", "sub_agent_error"]


def test_a_sub_agent_that_leads_elsewhere_is_counted_and_disturbs_nothing(
    writer: TranscriptWriter, tmp_path: Path
) -> None:
    assert not writer.append(told("sub_agent_tool_request", agent_id="../../../x"))
    assert not writer.append(told("sub_agent_tool_request", parent_request_id="/etc"))

    assert writer.failures == 2
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [writer.path]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": None},
        {"content": "x"},
        {"type": "warning", "message": {("a", 1): 1}},
        None,
        "text",
        LONG,
        Unspeakable(),
    ],
    ids=["empty", "no name", "no type", "no JSON", "nothing", "text", "too long to be read", "unspeakable"],
)
def test_what_cannot_be_written_is_counted_and_said_but_not_raised(
    event: Any, writer: TranscriptWriter, caplog: pytest.LogCaptureFixture
) -> None:
    assert not writer.append(event)

    assert writer.failures == 1
    assert writer.path.read_bytes() == b""
    assert "an event of session s1 was not written" in caplog.text


@pytest.mark.parametrize(
    ("content", "read"),
    [("lone \ud800 half", "lone \ufffd half"), (2**70, 2**70), ({1: "a"}, {"1": "a"}), (Path("/a"), "/a")],
)
def test_what_strict_json_has_no_word_for_is_written_as_it_can_be(
    content: Any, read: Any, writer: TranscriptWriter
) -> None:
    assert writer.append({"type": "of_next_year", "content": content})

    [event] = read_events(writer.path)
    assert event.fields["content"] == read


def test_a_disk_that_fails_is_counted_and_the_turn_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "s1").write_text("a file where a directory should be")
    writer = TranscriptWriter("s1", base=tmp_path)

    assert not writer.append(told("started"))
    assert writer.failures == 2
    assert "could not be created" in caplog.text
    assert "could not be written" in caplog.text


def test_a_layout_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no layout 'Array'"):
        TranscriptWriter("s1", base=tmp_path, layout="Array")  # type: ignore[arg-type]


def test_the_array_is_whole_after_each_event_and_read_as_the_lines_are(tmp_path: Path) -> None:
    lines = TranscriptWriter("lines", base=tmp_path, clock=lambda: NOW)
    array = TranscriptWriter("array", base=tmp_path, clock=lambda: NOW, layout="array")

    for kind in ("started", "user_message", "tool_request", "tool_result", "completed"):
        lines.append(told(kind))
        array.append(told(kind))
        assert isinstance(orjson.loads(array.path.read_bytes()), list)

    assert array.path.read_bytes().startswith(b"[\n  {\n")
    assert list(read_events(array.path)) == list(read_events(lines.path))
    assert [path.name for path in array.path.parent.iterdir()] == ["transcript.json"]


def test_an_array_that_is_damaged_is_not_written_anew(tmp_path: Path) -> None:
    array = TranscriptWriter("array", base=tmp_path, layout="array")
    array.append(told("started"))
    damaged = array.path.read_bytes()[:-4]
    array.path.write_bytes(damaged)

    assert array.append(told("user_message"))

    assert array.path.read_bytes().startswith(damaged)
    assert "user_message" in types(array.path)


NOT_KEPT = {
    *("text_delta", "reasoning", "tool_output_chunk", "sub_agent_tool_request", "sub_agent_tool_result"),
    "sub_agent_text_delta",
}


def again(value: dict[str, Any]) -> dict[str, Any]:
    return TranscriptEvent.of(value).as_json()


def test_every_type_has_an_example() -> None:
    assert set(EVENT_TYPES) == set(EVENTS)
    assert len(EVENTS) == 38 + 10 + 1


@pytest.mark.parametrize("value", ALL, ids=lambda value: value["type"])
def test_an_event_is_told_again_as_it_was(value: dict[str, Any]) -> None:
    said = {name: field for name, field in value.items() if field is not None}
    newer = {**value, "of_next_year": {"a": 1}}

    assert TranscriptEvent.of(value).is_known
    assert again(value) == value
    assert again(said) == value, "what was left out is null"
    assert again(newer) == newer
    assert next(iter(again(value))) == "type"


def test_reasoning_and_the_steps_of_a_source_are_left_out_rather_than_null() -> None:
    source = {"type": "workflow", "workflow_id": "w", "workflow_name": "n"}

    assert again(told("completed", reasoning=None)) == told("completed")
    assert again(told("completed", reasoning="hm"))["reasoning"] == "hm"
    assert again(told("tool_request", source={**source, "step_name": None}))["source"] == source


def test_a_source_may_say_more_than_is_known_and_less_than_that_is_the_agent() -> None:
    own = told("tool_request")
    del own["source"]

    assert again(own)["source"] == MAIN
    for source in ({**MAIN, "depth": 1}, {**OF_STEP, "new": {"a": None}}, {"type": "of_next_year"}):
        assert TranscriptEvent.of(told("tool_denied", source=source)).is_known
        assert again(told("tool_denied", source=source))["source"] == source


@pytest.mark.parametrize(
    "value",
    [
        {"type": "of_next_year", "x": [1, {"y": None}]},
        {"type": "user_message"},
        {"type": None, "x": 1},
        {"type": ["started"]},
        {"x": 1},
        {},
    ],
)
def test_what_is_not_understood_is_kept_as_it_came(value: dict[str, Any]) -> None:
    assert not TranscriptEvent.of(value).is_known
    assert again(value) == value


@pytest.mark.parametrize("kind", [*EVENTS, "of_next_year"])
def test_a_transcript_keeps_all_but_what_is_streamed_and_what_sub_agents_do(kind: str) -> None:
    value = told(kind) if kind in EVENTS else {"type": kind}

    for event in (kind, value, TranscriptEvent.of(value)):
        assert should_transcript(event) is (kind not in NOT_KEPT)
