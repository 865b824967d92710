"""Sessions and scopes are found by what nous itself has printed of them: by an exact name before any prefix."""

import json
import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders.command_line import Nous, on_terminal
from builders.episodes import HOME
from builders.fact_rows import learned
from builders.town import HERE, OTHER, SECRET, SHARED, Town, told

from nous.app.container import Container
from nous.cli.framework import BAD_INPUT
from nous.domain.effects import AppendFacts, Effects
from nous.domain.fact import LogVersion

SCOPE = ("--scope", str(HERE))
PORT = "The staging API listens on port 8080"


def test_an_episode_goes_by_the_beginning_of_its_id(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords")
    for session in (f"{OTHER}-1", f"{OTHER}-2"):
        town.publish(session, "otherwords")
    town.settle()
    command = ("episodes", "--editions")

    short, several = (nous(*command, name, *SCOPE) for name in ("secr", OTHER))

    assert (short.output, short.exit_code) == (nous(*command, SECRET, *SCOPE).output, 0)
    assert f"session {SECRET}" in short.output
    assert "is too short to name a session: give at least 4" in nous(*command, "sec", *SCOPE).stderr
    assert f"2 sessions have an id that begins with {OTHER!r}: " in several.stderr
    assert several.exit_code == BAD_INPUT


def test_a_session_that_was_forgotten_is_not_taken_for_one_that_begins_so(town: Town, nous: Nous) -> None:
    for session in ("abcd", "abcde"):
        town.publish(session, "otherwords")
    town.settle()
    nous("forget", "--session", "abcd", "--yes", *SCOPE)

    for command in (("status",), ("session-summary",), ("episodes", "--editions")):
        result = nous(*command, "abcd", *SCOPE)
        assert "session abcd was forgotten on 20" in result.stderr
        assert (result.stdout, result.exit_code) == ("", BAD_INPUT)


def test_who_asks_for_a_session_or_a_fact_of_another_scope_is_told_which_there_are(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords", compacting=True)
    town.publish(SECRET, "plantedwords")
    town.settle()
    nous("facts", "learn", stdin=json.dumps(PORT))
    fact = str(town.facts()[SHARED])

    for command in (
        ("episodes", "--editions", SECRET),
        ("status", SECRET),
        ("session-summary", SECRET),
        ("forget", "--session", SECRET, "--yes"),
        ("forget", "--fact", fact, "--yes"),
        ("facts", "merge", fact[:8], fact[:8]),
    ):
        assert nous(*command).stderr.endswith(f"; there is something in {HERE}\n"), command


@pytest.mark.parametrize("command", [("facts",), ("search", "port"), ("status", "s1"), ("provenance", "abcdef")])
def test_whoever_finds_nothing_in_a_scope_is_told_in_which_there_is_something(
    nous: Nous, command: tuple[str, ...]
) -> None:
    nous("facts", "learn", "--scope", "office/cc", stdin=json.dumps(PORT))

    assert "; there is something in default/office/cc\n" in nous(*command, "--scope", "typo").output


def test_scopes_are_listed_with_how_much_there_is_in_each(nous: Nous, town: Town) -> None:
    assert nous("scopes").stdout == "there is no scope yet: nous publish creates one\n"
    town.publish(SECRET, "plantedwords")
    town.settle()
    nous("facts", "learn", "--scope", "office/cc", stdin=json.dumps(PORT))

    rows = json.loads(nous("scopes", "--json").stdout)

    assert [(row["scope"], row["sessions"], row["facts"]) for row in rows] == [
        (str(HERE), 1, 2),
        ("default/office/cc", 0, 1),
    ]
    assert re.search(rf"^1 +2 +{rows[0]['last_learned'][:10]} .* UTC  {HERE}$", nous("scopes").stdout, re.MULTILINE)


def test_what_became_of_sessions_is_a_row_each_that_fits_the_terminal(town: Town, nous: Nous, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.txt" for name in ("first", "second", f"short-{'and-' * 30}so-on")]
    for file, text in zip(files, (told("plantedwords"), told("otherwords"), "User: Hi\n\nAssistant: Ho"), strict=True):
        file.write_text(text)
    nous("publish", *files, *SCOPE)
    town.settle()

    said, code = on_terminal("publish", *files, files[0], "--wait", *SCOPE)

    rows = said.splitlines()[-5:]
    cells = [re.split(" {2,}", row) for row in rows]
    assert code == 0
    assert cells[0] == ["outcome", "facts", "session"]
    assert [title for _, _, title in cells[1:3]] == ["About plantedtitle (first.txt)", "About the canteen (second.txt)"]
    assert {facts for _, facts, _ in cells[1:3]} == {"2 facts", "1 fact, 1 known"}
    assert cells[3][:2] == ["skipped: too short", "-"]
    assert rows[4].startswith("3 sessions, 0 new: ")
    assert rows[4].endswith("; 3 facts, 1 known")
    assert max(map(len, rows)) <= 80


def test_facts_are_told_in_the_order_in_which_they_were_said(nous: Nous, container: Container) -> None:
    first, second = learned(PORT, embedded_by=None), learned("Tim drinks\ntea", embedded_by=None)
    early = replace(second.fact.source, said_at=datetime(2020, 1, 2, tzinfo=UTC))
    rows = (first, replace(second, fact=replace(second.fact, source=early)))
    container.bus.apply(Effects(writes=(AppendFacts(scope=HOME, expected=LogVersion(), rows=rows),)))

    lines = nous("facts", "--scope", HOME).stdout.splitlines()

    assert lines[0::2] == ["Tim drinks tea", PORT]
    assert "2020-01-02" in lines[1]


def test_what_is_decided_is_kept_for_a_session_yet_to_come_without_what_steers_a_terminal(
    town: Town, nous: Nous
) -> None:
    noted = nous("record-decision", "run-1", "We keep\x1b Postgres\nand\u2028make", "--category", "to\x1bol", *SCOPE)
    town.publish("run-1", "otherwords")
    town.settle()

    assert (noted.stdout, noted.exit_code) == ("recorded\n", 0)
    assert "the next episode of session 'run-1'" in noted.stderr
    [kept] = json.loads(nous("episodes", "--json", *SCOPE).stdout)
    assert [(each["category"], each["description"]) for each in kept["decisions"]] == [
        ("to ol", "We keep  Postgres and make")
    ]


def test_what_comes_from_a_pipe_is_refused_as_nobody_can_read_it_later(nous: Nous, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", "-"):
        refused = nous("publish", path, stdin=told("otherwords"))
        assert refused.stderr.startswith(f"nous: {path} is ")
        assert "; it can be read only once, and workers read a session later: save it to a file" in refused.stderr
        assert refused.exit_code == BAD_INPUT
