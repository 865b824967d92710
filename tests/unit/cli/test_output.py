"""One renderer: records as a table, as lines or as JSON."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from nous.cli import output
from nous.cli.output import counted, fitted, in_words, render, render_table, table

LONG = "word " * 40 + "end"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "transport: openai:m at there gave no answer",
            "the model could not be reached: openai:m at there gave no answer",
        ),
        ("parse", "the model's answer could not be used"),
        (
            "attempt 2 is waiting, 0 errors (ModelPaused: openai:m is out)",
            "attempt 2 is waiting, 0 errors (openai:m is out)",
        ),
    ],
)
def test_reasons_that_are_kept_for_programs_are_told_in_words(reason: str, words: str) -> None:
    assert in_words(reason) == words


def test_one_is_not_told_as_many() -> None:
    assert [counted(number, "file") for number in (1, 0, 1200)] == ["1 file", "0 files", "1,200 files"]


def test_a_table_has_the_chosen_columns_and_a_mark_where_there_is_nothing() -> None:
    rows = [
        {"last_active": datetime(2026, 3, 1, tzinfo=UTC), "queues": ("a", "b"), "hidden": 1, "session": "s1"},
        {"last_active": None, "queues": (), "hidden": 2, "session": "x\nresolved  99 facts  forged"},
    ]

    assert table(rows, {"last_active": "last active", "queues": "queues", "session": "session"}).splitlines() == [
        "last active              queues  session",
        "2026-03-01 00:00:00 UTC  a, b    s1",
        "-                                x resolved  99 facts  forged",
    ]


def test_nothing_is_cut_unless_it_is_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"outcome": "resolved", "session": LONG}]
    assert table(rows, ("outcome", "session")).endswith(LONG)
    assert fitted(LONG, beside=10) == LONG

    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    assert max(map(len, table(rows, ("outcome", "session")).splitlines())) == 80
    assert len(fitted(LONG, beside=10)) == 70


def test_json_is_made_of_anything_and_text_is_not_computed_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[str]:
        raise AssertionError
        yield ""

    render((each for each in ({"at": datetime(2026, 3, 1, tzinfo=UTC)},)), lines(), as_json=True)

    assert json.loads(capsys.readouterr().out) == [{"at": "2026-03-01T00:00:00+00:00"}]


def test_that_there_is_nothing_is_said_to_people_only(capsys: pytest.CaptureFixture[str]) -> None:
    for as_json in (False, True):
        render_table([], ("a",), as_json=as_json, empty="nothing is there")

    assert capsys.readouterr().out == "nothing is there\n[]\n"
