"""Texts from anywhere, as people are shown them."""

import pytest

from nous.text.sanitize import one_line, readable, shortened

MARKS = "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u200b", "\u00ad"
BREAKS = "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"


@pytest.mark.parametrize("sign", ["\x1b", "\x9b", *BREAKS])
def test_a_blank_stands_for_what_steers(sign: str) -> None:
    assert readable(f"paid{sign}back") == "paid back"


@pytest.mark.parametrize("mark", MARKS)
def test_nothing_stands_for_what_turns_around_or_is_never_seen(mark: str) -> None:
    assert readable(f"paid{mark} back") == "paid back"


@pytest.mark.parametrize("lines", ["\n", "\r\n", "\n\n  \n", " \n\t", *BREAKS])
def test_what_is_a_row_stays_one(lines: str) -> None:
    assert one_line(f"a fact{lines}resolved  99 facts") == "a fact resolved  99 facts"


def test_the_breaks_of_a_long_blank_text_are_found_at_once() -> None:
    assert one_line(" " * 1_000_000) == ""


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [("as it is", 8, "as it is"), ("as it is not", 8, "as it i…"), (" on\n one \t line", 11, "on one line")],
)
def test_a_text_that_is_shortened_is_one_line_that_shows_where_it_was_cut(text: str, most: int, left: str) -> None:
    assert shortened(text, most) == left
    assert len(left) <= most
