from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from nous.transcript.base import Notes
from nous.transcript.model import Entry, Kind
from nous.transcript.turns import cut, finished

FULL = Entry(
    kind=Kind.TOOL_CALL,
    text="Bash",
    id="1",
    time=datetime(2026, 1, 1, tzinfo=UTC),
    tool="Bash",
    tool_input={"command": "ls"},
    call_id="c",
    is_error=True,
    line=7,
    offset=9,
)


def entry(kind: Kind, text: str = "x", own: str = "1") -> Entry:
    return Entry(kind=kind, text=text, id=own)


def finish(
    *entries: Entry, result_limit: int = 4_000, thinking: bool = False, notes: Notes | None = None
) -> list[Entry]:
    return list(finished(entries, notes or Notes(), result_limit=result_limit, thinking=thinking))


def test_each_prompt_begins_a_turn_and_what_stands_before_is_turn_zero() -> None:
    kinds = (Kind.SYSTEM, Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.USER, Kind.TOOL_CALL, Kind.TOOL_RESULT)

    assert [found.turn for found in finish(*map(entry, kinds))] == [0, 1, 1, 1, 2, 2, 2]


def test_every_field_arrives_as_the_reader_gave_it() -> None:
    (found,) = finish(FULL)

    assert found == FULL
    assert all(getattr(FULL, field.name) != field.default for field in fields(Entry) if field.name != "turn")


def test_ids_become_unique_in_the_same_way_each_time() -> None:
    entries = [entry(Kind.USER), entry(Kind.TOOL_CALL), entry(Kind.USER)]

    assert [found.id for found in finish(*entries)] == ["1", "1#2", "1#3"]
    assert finish(*entries) == finish(*entries)


def test_parts_of_one_answer_are_one_entry() -> None:
    found = finish(entry(Kind.ASSISTANT, "a"), entry(Kind.ASSISTANT, "b"), entry(Kind.ASSISTANT, "c", "2"))

    assert [(part.id, part.text) for part in found] == [("1", "a\n\nb"), ("2", "c")]


def test_an_answer_that_a_call_interrupts_stays_in_two_parts() -> None:
    found = finish(entry(Kind.ASSISTANT, "a"), entry(Kind.TOOL_CALL, own="2"), entry(Kind.ASSISTANT, "b"))

    assert [part.text for part in found] == ["a", "x", "b"]


def test_thinking_is_passed_over_unless_it_is_asked_for() -> None:
    notes = Notes()

    assert finish(entry(Kind.THINKING), notes=notes) == []
    assert notes.skipped == {"thinking": 1}
    assert len(finish(entry(Kind.THINKING), thinking=True)) == 1


@pytest.mark.parametrize("kind", [Kind.TOOL_RESULT, Kind.ERROR])
def test_long_output_keeps_its_beginning_and_its_end(kind: Kind) -> None:
    (found,) = finish(entry(kind, "a" * 5_000 + "z" * 5_000), result_limit=4_000)

    assert found.text == "a" * 2800 + "\n\n... [truncated 6000 chars] ...\n\n" + "z" * 1200


@pytest.mark.parametrize("kind", [Kind.USER, Kind.ASSISTANT, Kind.DECISION])
def test_what_somebody_said_is_kept_whole(kind: Kind) -> None:
    (found,) = finish(entry(kind, "a" * 100_000))

    assert len(found.text) == 100_000


def test_arguments_of_calls_are_cut_however_deep_they_stand() -> None:
    given = {"file_path": "/a", "edits": [{"new_string": "n" * 100}], "count": 3}

    (found,) = finish(replace(FULL, tool_input=given), result_limit=10)

    shortened = "n" * 7 + "\n\n... [truncated 90 chars] ...\n\n" + "n" * 3
    assert found.tool_input == {"file_path": "/a", "edits": [{"new_string": shortened}], "count": 3}


def test_five_thousand_signs_become_2800_and_1200_around_a_mark_that_says_1000() -> None:
    assert cut("x" * 5_000, 4_000) == "x" * 2_800 + "\n\n... [truncated 1000 chars] ...\n\n" + "x" * 1_200


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_a_tiny_limit_keeps_exactly_that_much(limit: int) -> None:
    assert cut("abcdef", limit).replace(f"\n\n... [truncated {6 - limit} chars] ...\n\n", "") in {"", "f", "af", "abf"}
