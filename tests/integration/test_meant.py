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


@pytest.mark.parametrize(
    "command", [("status", "has"), ("anchored", "has"), ("forget", "--session", "has", "--yes"), ("recall", "tea", "h")]
)
def test_a_beginning_that_is_too_short_is_told_as_that(nous: Nous, command: tuple[str, ...]) -> None:
    nous("facts", "learn", "--session", "hashed-one", stdin=TEA)

    result = nous(*command)

    assert "is too short to name a session: give at least 4 characters of its id\n" in result.stderr
    assert result.exit_code == BAD_INPUT


def test_whoever_finds_nothing_in_a_scope_that_is_known_is_shown_no_other(nous: Nous) -> None:
    for scope in ("home", "work"):
        nous("facts", "learn", "--scope", scope, stdin=TEA)

    for command in (("status", "nobody"), ("anchored", "nobody"), ("why", "abcdef")):
        assert "there is something in" not in nous(*command, "--scope", "home").stderr


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


def test_two_files_of_one_session_are_one_row_that_names_both(town: Town, nous: Nous, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("x.txt", "x.log")]
    for file, more in zip(files, ("", "\n\nAssistant: You are welcome."), strict=True):
        file.write_text(told("otherwords") + more)
    nous("publish", *files, *SCOPE)
    town.settle()

    *_, row, total = nous("publish", *files, "--wait", *SCOPE).stdout.splitlines()

    assert row.endswith("About the canteen (x.txt, x.log)")
    assert total.startswith("1 session, 0 new: ")
    assert total.endswith("; 2 facts, 0 known")


def test_a_session_that_has_grown_is_told_with_all_that_it_has_taught(town: Town, nous: Nous, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    publish = ("publish", file, "--session", "x", *SCOPE)
    file.write_text(told("otherwords"))
    nous(*publish)
    town.settle()
    assert nous(*publish, "--wait").stdout.endswith("; 2 facts, 0 known\n")

    file.write_text(told("otherwords") + "\n\nAssistant: You are welcome, any time.\n")
    nous(*publish)
    town.settle()

    said = nous(*publish, "--wait").stdout
    assert "  2 facts  " in said
    assert said.endswith("; 2 facts, 0 known\n")


def test_what_is_decided_goes_to_the_one_session_whose_random_id_begins_so(town: Town, nous: Nous) -> None:
    session = "279d5bb7-ef37-4f6c-9d0c-1b2a3c4d5e6f"
    town.publish(session, "otherwords")
    waiting = nous("decide", "279d5", "We keep Postgres", *SCOPE)
    town.settle()
    done = nous("decide", "279d5bb7-", "We keep Postgres too", *SCOPE)
    town.settle()

    assert [(each.stdout, each.exit_code) for each in (waiting, done)] == [("noted\n", 0)] * 2
    assert f"there is no episode of a session {session!r}" in waiting.stderr
    assert f"{session} has an episode already" in done.stderr
    assert "reprocess" not in done.stderr, "there is no model"
    assert nous("status", "279d5bb7", *SCOPE).stdout.startswith(f"session {session}\n")
    assert (whole := nous("status", *SCOPE)).exit_code == BAD_INPUT, whole.output
    [kept] = json.loads(nous("episodes", "--editions", "279d5bb7", "--json", *SCOPE).stdout)
    assert [each["description"] for each in kept["decisions"]] == ["We keep Postgres"]


def test_where_several_random_ids_begin_so_a_decision_asks_which(town: Town, nous: Nous) -> None:
    for end in ("a", "b"):
        town.publish(f"279d5bb7-ef37-4f6c-9d0c-1b2a3c4d5e6{end}", "otherwords")

    asked = nous("decide", "279d5bb7", "We keep Postgres", *SCOPE)

    assert (asked.stdout, asked.exit_code) == ("", BAD_INPUT)
    assert "2 sessions have an id that begins with '279d5bb7'" in asked.stderr


def test_what_is_no_random_id_does_not_make_the_beginning_of_one_ambiguous(town: Town, nous: Nous) -> None:
    session = "279d5bb7-ef37-4f6c-9d0c-1b2a3c4d5e6f"
    town.publish(session, "otherwords")
    assert nous("decide", f"{session}x", "We keep Postgres", *SCOPE).stdout == "noted\n"

    noted = nous("decide", "279d5bb7", "We keep Postgres", *SCOPE)

    assert (noted.stdout, noted.exit_code) == ("noted\n", 0)
    assert f"there is no episode of a session {session!r}" in noted.stderr


def test_a_random_id_in_capitals_is_the_session_that_is_known_and_else_itself(town: Town, nous: Nous) -> None:
    session = "279d5bb7-ef37-4f6c-9d0c-1b2a3c4d5e6f"
    before = nous("decide", session.upper(), "We keep Postgres", *SCOPE, "--scope", "home")
    town.publish(session, "otherwords")

    known = nous("decide", session.upper(), "We keep Postgres", *SCOPE)

    assert f"there is no episode of a session {session.upper()!r} in home yet" in before.stderr
    assert f"there is no episode of a session {session!r}" in known.stderr


def test_a_session_to_come_is_no_short_form_of_one_with_a_longer_name(town: Town, nous: Nous) -> None:
    town.publish("run-10", "otherwords")

    noted = nous("decide", "run-1", "We keep Postgres", *SCOPE)

    assert "there is no episode of a session 'run-1'" in noted.stderr
    assert nous("decide", "run-10", "We keep Postgres", *SCOPE).stdout == "noted\n"


@pytest.mark.parametrize("blank", [" ", "   "])
def test_a_blank_name_is_refused_wherever_a_session_is_named(nous: Nous, tmp_path: Path, blank: str) -> None:
    file = tmp_path / "x.txt"
    file.write_text(told("otherwords"))

    for command in (("publish", file), ("facts", "learn")):
        result = nous(*command, "--session", blank, stdin=TEA)
        assert "the id of a session has to be a text of 1 to 400 printable characters, and not blank" in result.stderr
        assert result.exit_code == BAD_INPUT
    assert nous("decide", blank, "We keep Postgres").exit_code == BAD_INPUT


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
