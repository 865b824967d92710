from typing import Any

import pytest

from nous.transcript.model import Entry, Kind, ReadNotes
from nous.transcript.parsing.turns import Finishing
from nous.transcript.reader import Draft


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


def test_ids_become_unique_in_the_same_way_each_time() -> None:
    drafts = [draft(Kind.USER), draft(Kind.TOOL_CALL), draft(Kind.USER)]

    assert [found.id for found in finish(*drafts)] == ["1", "1#2", "1#3"]
    assert finish(*drafts) == finish(*drafts)


def test_parts_of_one_answer_are_one_entry() -> None:
    found = finish(draft(Kind.ASSISTANT, "a"), draft(Kind.ASSISTANT, "b"), draft(Kind.ASSISTANT, "c", "2"))

    assert [(part.id, part.text) for part in found] == [("1", "a\n\nb"), ("2", "c")]


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


def test_arguments_of_calls_are_cut_however_deep_they_stand() -> None:
    given = {"file_path": "/a", "edits": [{"new_string": "n" * 100}], "count": 3}

    (found,) = finish(draft(Kind.TOOL_CALL, tool_input=given), limit=10)

    shortened = "n" * 7 + "\n\n... [truncated 90 chars] ...\n\n" + "n" * 3
    assert found.tool_input == {"file_path": "/a", "edits": [{"new_string": shortened}], "count": 3}
