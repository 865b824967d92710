"""M3: a turn in pieces that overlap."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.transcript.render.turns import chunk

WORDS = " ".join(f"w{number}" for number in range(600))


def test_a_short_turn_is_one_piece() -> None:
    [only] = chunk("[User] hi\n\n[Assistant] hello", turn=3)

    assert (only.turn, only.index, only.text) == (3, 0, "[User] hi\n\n[Assistant] hello")


def test_a_long_turn_is_pieces_of_256_tokens_that_have_40_in_common() -> None:
    pieces = chunk(WORDS)

    assert [piece.index for piece in pieces] == [0, 1, 2]
    assert [len(piece.text.split()) for piece in pieces] == [256, 256, 168]
    assert pieces[0].text.split()[-40:] == pieces[1].text.split()[:40]
    assert pieces[1].text.split()[-40:] == pieces[2].text.split()[:40]


@pytest.mark.parametrize("count", [255, 256, 257, 472, 473])
def test_no_piece_holds_nothing_but_what_the_last_one_had(count: int) -> None:
    pieces = chunk(" ".join(["w"] * count))

    assert len(pieces) == (1 if count <= 256 else 2 if count <= 472 else 3)


def test_scripts_without_spaces_and_endless_words_are_cut_too() -> None:
    assert len(chunk("漢" * 600)) == 3
    assert len(chunk("x" * 16 * 600)) == 3


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
