from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from nous.transcript.model import Entry, Kind, ReadNotes
from nous.transcript.parsing.turns import Finishing
from nous.transcript.reader import Draft

FULL = Draft(
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
    paths=("/a",),
    agent="helper",
    is_meta=True,
)


def draft(kind: Kind, text: str = "x", own: str = "1", **more: Any) -> Draft:
    return Draft(kind=kind, text=text, id=own, **more)


def finish(
    *drafts: Draft, notes: ReadNotes | None = None, include: tuple[str, ...] = (), limit: int = 4_000
) -> list[Entry]:
    finishing = Finishing(result_limit=limit, include=frozenset(include))
    return [*finishing.entries(drafts, notes or ReadNotes()), *finishing.conclude()]


def test_each_prompt_begins_a_turn_and_what_stands_before_is_turn_zero() -> None:
    kinds = (Kind.SYSTEM, Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.USER, Kind.TOOL_CALL, Kind.TOOL_RESULT)

    assert [found.turn for found in finish(*map(draft, kinds))] == [0, 1, 1, 1, 2, 2, 2]


def test_every_field_arrives_as_the_reader_gave_it() -> None:
    (found,) = finish(FULL, include=("sidechains",))

    given = {field.name: getattr(FULL, field.name) for field in fields(Draft)}
    assert {name: getattr(found, name) for name in given} == given
    assert all(given[field.name] != field.default for field in fields(Draft))


def test_ids_become_unique_in_the_same_way_each_time() -> None:
    drafts = [draft(Kind.USER), draft(Kind.TOOL_CALL), draft(Kind.USER)]

    assert [found.id for found in finish(*drafts)] == ["1", "1#2", "1#3"]
    assert finish(*drafts) == finish(*drafts)


def test_parts_of_one_answer_are_one_entry() -> None:
    found = finish(draft(Kind.ASSISTANT, "a"), draft(Kind.ASSISTANT, "b"), draft(Kind.ASSISTANT, "c", "2"))

    assert [(part.id, part.text) for part in found] == [("1", "a\n\nb"), ("2", "c")]


def test_an_answer_that_a_call_interrupts_stays_in_two_parts() -> None:
    found = finish(draft(Kind.ASSISTANT, "a"), draft(Kind.TOOL_CALL, own="2"), draft(Kind.ASSISTANT, "b"))

    assert [part.text for part in found] == ["a", "x", "b"]


@pytest.mark.parametrize(
    ("left_out", "extra", "reason"),
    [
        (draft(Kind.USER, own="2", is_meta=True), "meta", "meta message"),
        (draft(Kind.USER, own="2", agent="a1"), "sidechains", "sidechain"),
        (draft(Kind.THINKING, own="2"), "thinking", "thinking"),
    ],
)
def test_what_no_person_typed_is_asked_for_by_name_and_begins_no_turn(left_out: Draft, extra: str, reason: str) -> None:
    drafts, notes = [draft(Kind.USER), left_out], ReadNotes()

    assert [found.id for found in finish(*drafts, notes=notes)] == ["1"]
    assert notes.skipped == {reason: 1}
    assert [found.turn for found in finish(*drafts, include=(extra,))] == [1, 1]


def test_arguments_nested_deeper_than_anyone_needs_are_cut_off() -> None:
    given: Any = "bottom"
    for _ in range(900):
        given = [given]

    (found,) = finish(draft(Kind.TOOL_CALL, tool_input={"edits": given}))

    assert "bottom" not in str(found.tool_input)


@pytest.mark.parametrize("kind", [Kind.TOOL_RESULT, Kind.ERROR])
def test_long_output_keeps_its_beginning_and_its_end(kind: Kind) -> None:
    (found,) = finish(draft(kind, "x" * 5_000), limit=4_000)

    assert found.text == "x" * 2_800 + "\n\n... [truncated 1000 chars] ...\n\n" + "x" * 1_200


@pytest.mark.parametrize("kind", [Kind.USER, Kind.ASSISTANT, Kind.DECISION])
def test_what_somebody_said_is_kept_whole(kind: Kind) -> None:
    (found,) = finish(draft(kind, "a" * 100_000))

    assert len(found.text) == 100_000


def test_arguments_of_calls_are_cut_however_deep_they_stand() -> None:
    given = {"file_path": "/a", "edits": [{"new_string": "n" * 100}], "count": 3}

    (found,) = finish(draft(Kind.TOOL_CALL, tool_input=given), limit=10)

    shortened = "n" * 7 + "\n\n... [truncated 90 chars] ...\n\n" + "n" * 3
    assert found.tool_input == {"file_path": "/a", "edits": [{"new_string": shortened}], "count": 3}
