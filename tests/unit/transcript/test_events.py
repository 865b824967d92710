"""T1 and T6: what an agent tells is kept as it was told."""

from typing import Any

import pytest
from builders.agent_events import ALL, EVENTS, MAIN, OF_STEP, told

from nous.transcript import TranscriptEvent, should_transcript
from nous.transcript.recorder.events import EVENT_TYPES

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
