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


Q1, A1 = (Kind.USER, "Q1"), (Kind.ASSISTANT, "A1")
Q2, A2 = (Kind.USER, "Q2"), (Kind.ASSISTANT, "A2")
EDIT = (Kind.TOOL_CALL, "Edit")


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            [Q1, A1, (Kind.TOOL_CALL, "a"), (Kind.TOOL_CALL, "b"), Q2, A2],
            ["[User] Q1\n\n[Assistant] A1\n\n[Tools] a | b\n\n[User] Q2", "[User] Q2\n\n[Assistant] A2"],
        ),
        ([Q1, A1, Q2, (Kind.TOOL_CALL, "TodoWrite")], ["[User] Q1\n\n[Assistant] A1\n\n[User] Q2"]),
        ([Q1, EDIT, (Kind.DECISION, "Rejected Edit")], ["[User] Q1\n\n[Decision] Rejected Edit\n\n[Tools] Edit"]),
        ([Q1, EDIT], ["[User] Q1\n\n[Tools] Edit"]),
        ([], []),
    ],
    ids=["question, answer, tools, next question", "bookkeeping alone is dropped", "decision", "tools alone", "none"],
)
def test_a_turn_is_what_was_asked_said_and_done(said: list[tuple[Kind, str]], texts: list[str]) -> None:
    turns = group_into_turns(entries(*said))

    assert [turn.text for turn in turns] == texts


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
