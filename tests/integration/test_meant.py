"""Which session is meant: the one of that name, be it forgotten, before any whose id only begins so."""

import json
from pathlib import Path

import pytest
from builders.command_line import Nous
from builders.town import HERE, Town, told

from nous.cli.framework import BAD_INPUT

SCOPE = ("--scope", str(HERE))
ASKED = (
    ("status", "abcd"),
    ("anchored", "abcd"),
    ("episodes", "--editions", "abcd"),
    ("recall", "billing", "abcd"),
)
TEA = json.dumps("Tim drinks tea")


def test_a_session_that_was_forgotten_is_not_taken_for_one_that_begins_so(town: Town, nous: Nous) -> None:
    for session in ("abcd", "abcde"):
        town.publish(session, "otherwords")
    town.settle()
    nous("forget", "--session", "abcd", "--yes", *SCOPE)

    for command in ASKED:
        result = nous(*command, *SCOPE)
        assert "session abcd was forgotten on 20" in result.stderr
        assert (result.stdout, result.exit_code) == ("", BAD_INPUT)


@pytest.mark.parametrize("command", [("status", "has"), ("anchored", "has"), ("forget", "--session", "has", "--yes")])
def test_a_beginning_that_is_too_short_is_told_as_that(nous: Nous, command: tuple[str, ...]) -> None:
    nous("facts", "learn", "--session", "hashed-one", stdin=TEA)

    result = nous(*command)

    assert "is too short to name a session: give at least 4 characters of its id\n" in result.stderr
    assert result.exit_code == BAD_INPUT


@pytest.mark.parametrize("session", ["team/monday", "chats"])
def test_recall_opens_a_session_whose_name_is_that_of_no_file(
    town: Town, nous: Nous, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: str
) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(told("otherwords"))
    nous("publish", file, "--session", session, *SCOPE)
    town.settle()
    (tmp_path / "chats").mkdir()
    monkeypatch.chdir(tmp_path)

    assert nous("recall", "billing", session, *SCOPE).stdout == nous("recall", "billing", file).stdout


def test_a_file_named_twice_is_one_session_of_what_it_taught_once(town: Town, nous: Nous, tmp_path: Path) -> None:
    for name, words in (("x", "plantedwords"), ("y", "otherwords")):
        (tmp_path / f"{name}.txt").write_text(told(words))
    files = [tmp_path / f"{name}.txt" for name in ("x", "x", "y")]
    nous("publish", *files, *SCOPE)
    town.settle()

    *_, first, second, total = nous("publish", *files, "--wait", *SCOPE).stdout.splitlines()

    assert "About plantedtitle (x.txt)" in first
    assert "About the canteen (y.txt)" in second
    assert total.startswith("2 sessions, 0 new: ")
    assert total.endswith("; 3 facts, 1 known")


def test_a_decision_names_its_session_in_full_since_that_may_be_yet_to_come(town: Town, nous: Nous) -> None:
    town.publish("run-10", "otherwords")

    noted = nous("decide", "run-1", "We keep Postgres", *SCOPE)

    assert (noted.stdout, noted.exit_code) == ("noted\n", 0)
    assert "there is no episode of a session 'run-1'" in noted.stderr


def test_status_of_one_session_goes_by_its_prefix_and_a_scope_needs_one(town: Town, nous: Nous) -> None:
    session = "279d5bb7-ef37-4f6c-9d0c-1b2a3c4d5e6f"
    town.publish(session, "otherwords")

    assert nous("status", "279d5bb7", *SCOPE).stdout.startswith(f"session {session}\n")
    assert nous("status", *SCOPE).exit_code == BAD_INPUT


def test_what_is_decided_is_kept_without_what_steers_a_terminal_or_breaks_a_line(town: Town, nous: Nous) -> None:
    nous("decide", "x", "We keep\x1b Postgres\nand\u2028make", "--category", "to\x1bol", *SCOPE)
    town.publish("x", "otherwords")
    town.settle()

    [kept] = json.loads(nous("episodes", "--json", *SCOPE).stdout)

    assert [(each["category"], each["description"]) for each in kept["decisions"]] == [
        ("to ol", "We keep  Postgres and make")
    ]


def test_a_line_break_in_a_file_s_name_or_in_a_fact_forges_no_row(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps("Tim drinks\ntea  at nine"))

    assert "Tim drinks tea  at nine" in nous("facts").stdout.splitlines()
    assert len(nous("publish", "x\nresolved  99 facts  forged row.txt").stderr.splitlines()) == 1
