"""The exact form."""

import pytest

from nous.learning.normalise import exact_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  team uses Redis.", "the team uses redis"),
        ('The project uses "ruff" for linting', "The project uses `ruff` for linting"),
        ("The team doesn\u2019t deploy", "The team doesn't deploy"),
        ("\uff34\uff45\uff41", "tea"),
        ("well\u2011known", "well-known"),
        ("(see the docs)", "see the docs!"),
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
        ("a/b", "ab"),
        ("résumé", "resume"),
    ],
)
def test_what_carries_meaning_stays(one: str, other: str) -> None:
    assert exact_form(one) != exact_form(other)


@pytest.mark.parametrize("text", ["", "  \n", "...", "!!", "- ", "()", '""', "—"])
def test_nothing_is_left_of_what_says_nothing(text: str) -> None:
    assert exact_form(text) == ""
