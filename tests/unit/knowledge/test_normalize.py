"""The exact form."""

import pytest

from nous.knowledge.normalize import exact_form
from nous.text.sanitize import readable


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  team uses Redis.", "the team uses redis"),
        ('The project uses "ruff" for linting', "The project uses `ruff` for linting"),
        ("The team doesn\u2019t deploy", "The team doesn't deploy"),
        ("\uff34\uff45\uff41", "tea"),
        ("(see the docs)", "see the docs!"),
        ("a **bold and <keen>** move", "a bold and keen move"),
        ("**`ruff`** is used", "ruff is used"),
        ("wait\u2026 then go \u2014 now...", "Wait... then go - now"),
        ("10 - 20 rows", "10\u201320 rows"),
        ("x\u00b2 + 1", "x^2 + 1"),
        ('the delimiter is ";"', 'the delimiter is ";".'),
        ("NEVER PUSH TO MAIN", "never push to main"),
        ("It runs. A cache is used", "it runs. a cache is used"),
        ("the default is `true`", "the default is true"),
    ],
)
def test_form_makes_no_difference(one: str, other: str) -> None:
    assert exact_form(one) == exact_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 3.5", "port 35"),
        ("-5 degrees", "5 degrees"),
        ("C++ is used", "C is used"),
        ("10² rows", "102 rows"),
        ("edit .env", "edit env"),
        ("Is it on?", "Is it on"),
        ("résumé", "resume"),
        ("latency <5", "latency 5"),
        ("billing -> ledger", "billing <- ledger"),
        ("5\u2019 wide", "5\u201d wide"),
        ("2 * 8 rows", "2 8 rows"),
        ("ignores *.py", "ignores .py"),
        ('the delimiter is ";"', 'the delimiter is ","'),
        ("run it with -V", "run it with -v"),
        ("\u2212 5 mm", "5 mm"),
        ("1½ hours", "11\u20442 hours"),
        ("memory is 128m", "memory is 128M"),
        ("the variable is A", "the variable is a"),
        ("set API_TOKEN", "set api_token"),
        ("call getUserID", "call getUserId"),
        ("run ls -lA", "run ls -la"),
        ("the branch is `Main`", "the branch is `main`"),
        ("run `pip install -e .`", "run `pip install -e ..`"),
        ("run go test ./...", "run go test ./"),
        ("run `git checkout -` after a rebase", "run `git checkout` after a rebase"),
        ("x is in [0, 10)", "x is in [0, 10]"),
        ("call `save!`", "call `save`"),
        ("the glob is *test*", "the glob is test"),
        ("bind it to `A` or `B`", "bind it to `B` or `A`"),
        ("No, interns can push", "No interns can push"),
        ("It runs. Not in prod", "It runs not. In prod"),
        ("the total is price - discount", "the total is price discount"),
        ("We'll test it", "Well test it"),
        ('the default is "true"', "the default is true"),
    ],
)
def test_what_carries_meaning_stays(one: str, other: str) -> None:
    assert exact_form(one) != exact_form(other)


@pytest.mark.parametrize("text", ["", "  \n", "...", "!!", "- ", "()", '""', "—", "` `"])
def test_nothing_is_left_of_what_says_nothing(text: str) -> None:
    assert exact_form(text) == ""


@pytest.mark.parametrize("sign", ["\u200e", "\x1b", "\x07", "\u202e", "\u2028"])
def test_signs_that_steer_a_terminal_count_as_in_facts(sign: str) -> None:
    assert exact_form(f"Run zebra{sign} on port 9") == exact_form(readable(f"Run zebra{sign} on port 9"))


@pytest.mark.parametrize("mark", ["\u200e", "\u202e", "\u2066", "\u200b", "\u2060", "\u00ad", "\ufeff"])
def test_marks_that_nobody_sees_make_no_other_fact_wherever_they_stand(mark: str) -> None:
    text = "Run zebra, and on port 9."

    assert {exact_form(f"{text[:at]}{mark}{text[at:]}") for at in range(len(text) + 1)} == {exact_form(text)}
