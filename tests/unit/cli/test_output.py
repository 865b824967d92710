"""Values as text."""

import pytest

from nous.cli.output import counted, in_words, table


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "transport: openai:m at there gave no answer",
            "the model could not be reached: openai:m at there gave no answer",
        ),
        ("parse", "the model's answer could not be used"),
        ("timeout, for today", "the model did not answer in time, for today"),
        (
            "attempt 2 is waiting, 0 errors (ModelPaused: openai:m is out)",
            "attempt 2 is waiting, 0 errors (openai:m is out)",
        ),
        ("other people were asked", "other people were asked"),
        ("too short", "too short"),
    ],
)
def test_reasons_that_are_kept_for_programs_are_told_in_words(reason: str, words: str) -> None:
    assert in_words(reason) == words


def test_one_is_not_told_as_many() -> None:
    assert (counted(1, "episode"), counted(0, "episode"), counted(1200, "file")) == (
        "1 episode",
        "0 episodes",
        "1,200 files",
    )


def test_a_cell_that_holds_a_line_break_forges_no_row() -> None:
    assert table(("file", "outcome"), [("x\nresolved  99 facts  forged", "dead")]).count("\n") == 1
