"""M2 and M3: turns as text, and that text in pieces that overlap."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.transcript import Entry, Kind, group_into_turns
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.turns import Finishing
from nous.transcript.reader import Draft
from nous.transcript.render.turns import chunk

WORDS = " ".join(f"w{number}" for number in range(600))


def entries(*said: tuple[Kind, str]) -> list[Entry]:
    drafts = (
        Draft(kind=kind, text=text, id=str(number), tool=text if kind is Kind.TOOL_CALL else None)
        for number, (kind, text) in enumerate(said)
    )
    finishing = Finishing()
    return [*finishing.entries(drafts, ReadNotes()), *finishing.conclude()]


def test_a_turn_is_question_answer_tools_and_the_next_question() -> None:
    first, second = group_into_turns(
        entries(
            (Kind.USER, "Q1"),
            (Kind.ASSISTANT, "A1"),
            (Kind.TOOL_CALL, "a"),
            (Kind.TOOL_CALL, "b"),
            (Kind.USER, "Q2"),
            (Kind.ASSISTANT, "A2"),
        )
    )

    assert first.text == "[User] Q1\n\n[Assistant] A1\n\n[Tools] a | b\n\n[User] Q2"
    assert second.text == "[User] Q2\n\n[Assistant] A2"
    assert (first.is_provisional, second.is_provisional) == (False, True)


def test_a_turn_owns_everything_up_to_the_next_prompt() -> None:
    kinds = (
        Kind.USER,
        Kind.ASSISTANT,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.ASSISTANT,
        Kind.TOOL_CALL,
        Kind.ERROR,
        Kind.ASSISTANT,
    )

    (turn,) = group_into_turns(entries(*((kind, f"{kind}{number}") for number, kind in enumerate(kinds))))

    assert len(turn.entries) == 8
    assert turn.text.count("assistant") == 3


def test_a_turn_of_bookkeeping_alone_is_dropped_but_its_question_is_what_followed() -> None:
    (turn,) = group_into_turns(
        entries((Kind.USER, "Q1"), (Kind.ASSISTANT, "A1"), (Kind.USER, "Q2"), (Kind.TOOL_CALL, "TodoWrite"))
    )

    assert turn.text == "[User] Q1\n\n[Assistant] A1\n\n[User] Q2"


def test_a_turn_of_tools_or_decisions_alone_is_kept() -> None:
    (turn,) = group_into_turns(entries((Kind.USER, "Q"), (Kind.TOOL_CALL, "Edit"), (Kind.DECISION, "Rejected Edit")))

    assert turn.text == "[User] Q\n\n[Decision] Rejected Edit\n\n[Tools] Edit"

    (turn,) = group_into_turns(entries((Kind.USER, "Fix CI"), (Kind.TOOL_CALL, "Edit")))

    assert turn.text == "[User] Fix CI\n\n[Tools] Edit"


def test_a_long_turn_is_pieces_of_256_tokens_that_have_40_in_common() -> None:
    pieces = chunk(WORDS)

    assert [piece.index for piece in pieces] == [0, 1, 2]
    assert [len(piece.text.split()) for piece in pieces] == [256, 256, 168]
    assert pieces[0].text.split()[-40:] == pieces[1].text.split()[:40]
    assert pieces[1].text.split()[-40:] == pieces[2].text.split()[:40]


@pytest.mark.parametrize("count", [1, 255, 256, 257, 472, 473])
@pytest.mark.parametrize("token", ["w ", "漢", "x" * 16], ids=["words", "no spaces", "endless word"])
def test_no_piece_holds_nothing_but_what_the_last_one_had(token: str, count: int) -> None:
    pieces = chunk(token * count)

    assert len(pieces) == (1 if count <= 256 else 2 if count <= 472 else 3)


@given(
    text=st.text(alphabet="ab 漢.\n👨\u200d", max_size=200),
    sizes=st.integers(1, 9).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1))),
)
def test_no_text_is_lost_and_none_is_made_up(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    pieces = chunk(text, size=size, overlap=overlap)

    assert (pieces[0].begin, pieces[-1].end) == (0, len(text))
    assert all(piece.text == text[piece.begin : piece.end] for piece in pieces)
    assert all(after.begin <= before.end for before, after in pairwise(pieces))
    assert [piece.index for piece in pieces] == list(range(len(pieces)))


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, -1), (0, 0)])
def test_sizes_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="cannot have"):
        chunk("x", size=size, overlap=overlap)
