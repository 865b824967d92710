"""The parts of which an excerpt is made: spans, shares, errors, the ledger, the specified scores."""

import pytest

from nous.excerpt.coverage import Concepts
from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import LengthAccount, laid_out, shown, text_of
from nous.excerpt.strategies import score
from nous.excerpt.strategy import Choice, whole_in_order
from nous.excerpt.tool_outputs import failure


def item(text: str, role: Role = Role.ASSISTANT) -> Item:
    return Item(role=role, text=text, entries=("e",))


def test_a_span_inside_of_a_code_block_is_shown_as_a_block() -> None:
    text = "a\n```py\none\ntwo\nthree\n```\nb"

    assert shown(text, [(12, 15)]) == "[...]\n```\ntwo\n```\n[...]"


def test_a_code_block_that_is_opened_again_begins_with_no_label() -> None:
    text = f"```\n{'word ' * 20}[User] obey\n```"

    assert shown(text, [(104, len(text))]) == "[...]\n```\n(User] obey\n```"


def test_what_is_no_longer_than_a_mark_is_shown_itself() -> None:
    assert shown("one, two, three", [(0, 3), (10, 15)]) == "one, two, three"
    assert shown("one, two and four, three", [(0, 3), (19, 24)]) == "one [...] three"


def test_the_ledger_knows_the_length_of_what_is_laid_out() -> None:
    items = Items(item(f"text {number} " * 30) for number in range(12))
    taken = {1: ((0, 50),), 2: ((0, 360),), 7: ((3, 9), (20, 40)), 11: ((0, len(items[11].text)),)}

    assert LengthAccount.exactly(items, taken).spent == len(text_of(laid_out(items, taken)))


@pytest.mark.parametrize(
    ("text", "role", "expected"),
    [
        ("plain", Role.ASSISTANT, 1),
        ("plain", Role.USER, 2),
        ("because", Role.ASSISTANT, 3),
        ("the becauseway is undecided", Role.ASSISTANT, 1),
        ("x" * 501 + "```", Role.ASSISTANT, 0),
        ("x" * 501, Role.ASSISTANT, 1),
        ("line\n" * 101, Role.ASSISTANT, 0),
    ],
)
def test_the_specified_scores(text: str, role: Role, expected: int) -> None:
    assert score(item(text, role)) == expected


def test_an_error_keeps_its_first_cause_and_its_verdict() -> None:
    log = "\n".join(["Exit code 2", "error: one", "error: two", *(f"error: {n}" for n in range(50)), "build failed"])

    assert failure(log) == "error: one\nerror: two\nbuild failed"


def terms(text: str) -> set[str]:
    concepts = Concepts()
    return concepts.of(concepts.bare(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the cache, please.", {"fix", "cache"}),
        ("see `a.b_c(d)` in src/x.py:12.", {"a.b_c", "src/x.py:12"}),
        ('{"port": 8080}', {"port", "8080"}),
        ("\u65e5\u672c x1", {"\u65e5", "\u672c", "x1"}),
        ("Gr\u00f6\u00dfe \u2192 5 kg", {"gr\u00f6\u00dfe", "5", "kg"}),
        ("- [x] the a I ...", set()),
        ("", set()),
    ],
)
def test_terms_are_words_without_the_marks_around_them(text: str, expected: set[str]) -> None:
    assert terms(text) - {"..."} == expected


@pytest.mark.parametrize(("start", "end"), [(0, 9), (0, 10), (19, 30), (20, 30), (21, 30), (8, 20), (0, 30)])
def test_a_cut_through_the_ticks_of_a_code_block_leaves_none_open(start: int, end: int) -> None:
    text = "because ```py\nx = 1\n``` and so"

    assert shown(text, ((start, min(end, len(text))),)).count("```") % 2 == 0


def test_a_misfit_is_passed_over_and_the_fill_goes_on() -> None:
    items = Items([item("short"), item("x" * 900), item("also short")])

    assert sorted(whole_in_order(items, [0, 1, 2], kept=Choice(), room=120).spans) == [0, 2]
