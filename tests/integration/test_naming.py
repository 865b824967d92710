"""Sessions and scopes are found by what nous itself has printed of them."""

import json
import os
import re
from pathlib import Path

import pytest
from builders.command_line import Nous, on_terminal
from builders.town import HERE, OTHER, SECRET, SHARED, Town, told

from nous.cli.framework import BAD_INPUT, FAILED

SCOPE = ("--scope", str(HERE))
PORT = "The staging API listens on port 8080"


def test_a_session_goes_by_the_beginning_of_its_id(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords")
    town.publish(SECRET, "plantedwords", compacting=True)
    town.settle()

    for whole, short in (
        (("status", SECRET), ("status", "secr")),
        (("anchored", SECRET), ("anchored", "secr")),
        (("episodes", "--editions", SECRET), ("episodes", "--editions", "secr")),
    ):
        assert nous(*short, *SCOPE).output == nous(*whole, *SCOPE).output
        assert f"session {SECRET}" in nous(*short, *SCOPE).output
        assert nous(*short, *SCOPE).exit_code == 0


def test_a_beginning_that_fits_several_sessions_says_which(town: Town, nous: Nous) -> None:
    for session in (f"{OTHER}-1", f"{OTHER}-2"):
        town.publish(session, "otherwords")

    for command in (("status", OTHER), ("anchored", OTHER)):
        result = nous(*command, *SCOPE)
        assert f"2 sessions have an id that begins with {OTHER!r}: {OTHER}-1, {OTHER}-2" in result.stderr
        assert result.exit_code == BAD_INPUT


def test_a_session_that_waits_goes_by_its_own_id_though_another_begins_so(town: Town, nous: Nous) -> None:
    town.publish(f"{OTHER}-2", "otherwords")
    town.settle()
    town.publish(OTHER, "otherwords")

    assert "waiting" in nous("status", OTHER, *SCOPE).stdout
    assert "done" in nous("status", f"{OTHER}-", *SCOPE).stdout


def test_recall_opens_the_file_of_a_session_that_was_published(town: Town, nous: Nous, tmp_path: Path) -> None:
    file = tmp_path / "the chat.txt"
    file.write_text(told("otherwords"))
    nous("publish", file, "--session", OTHER, *SCOPE)
    town.settle()

    by_file = nous("recall", "billing", file).stdout

    assert "port 9017" in by_file
    assert nous("recall", "billing", OTHER, *SCOPE).stdout == by_file
    assert nous("recall", "billing", OTHER[:5], *SCOPE).stdout == by_file
    assert nous("recall", "billing", OTHER[:5], *SCOPE).stderr == f"nous: session {OTHER}, from {file}\n"
    file.unlink()
    assert nous("recall", "billing", OTHER, *SCOPE).stderr == f"nous: there is no file {file}\n"


def test_who_asks_for_a_session_or_a_fact_of_another_scope_is_told_which_has_it(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords", compacting=True)
    town.publish(SECRET, "plantedwords")
    town.settle()
    nous("facts", "learn", stdin=json.dumps(PORT))
    fact = str(town.facts()[SHARED])

    for command in (
        ("recall", "billing", SECRET),
        ("episodes", "--editions", SECRET),
        ("status", SECRET),
        ("anchored", SECRET),
        ("forget", "--session", SECRET, "--yes"),
        ("forget", "--fact", fact, "--yes"),
        ("forget", "--fact", fact[:8], "--yes"),
        ("facts", "supersede", fact[:8], fact[:8]),
        ("facts", "merge", fact[:8], fact[:8]),
        ("decide", SECRET, "We keep Postgres"),
    ):
        assert nous(*command).stderr.endswith(f"; there is one in {HERE}: say --scope\n"), command


def test_recall_says_of_a_session_without_a_file_that_it_has_none(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords")
    town.settle()

    assert f"session {SECRET} came without a file" in nous("recall", "billing", SECRET, *SCOPE).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("facts",),
        ("episodes",),
        ("search", "port"),
        ("context",),
        ("status", "s1"),
        ("episodes", "--editions", "s1"),
        ("forget", "--session", "s1", "--yes"),
        ("why", "abcdef"),
        ("export",),
    ],
)
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

    said, code = on_terminal("publish", *files, "--wait", *SCOPE)

    rows = said.splitlines()[-5:]
    cells = [re.split(" {2,}", row) for row in rows]
    assert code == 0
    assert cells[0] == ["outcome", "facts", "session"]
    assert {(facts, title) for _, facts, title in cells[1:3]} <= {
        *((facts, "About plantedtitle (first.txt)") for facts in ("2 facts", "1 fact, 1 known")),
        *((facts, "About the canteen (second.txt)") for facts in ("2 facts", "1 fact, 1 known")),
    }
    assert cells[3][:2] == ["skipped: too short", "-"]
    assert rows[4].startswith("3 sessions, 0 new: ")
    assert rows[4].endswith("; 3 facts, 1 known")
    assert max(map(len, rows)) <= 80


def test_facts_are_told_in_the_order_in_which_they_were_said(nous: Nous, monkeypatch: pytest.MonkeyPatch) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))
    nous("facts", "learn", stdin=json.dumps("Tim drinks tea"))
    first, second = map(json.loads, nous("export").stdout.splitlines())
    second["record"]["fact"]["source"]["said_at"] = "2020-01-02T00:00:00Z"
    monkeypatch.setenv("NOUS_PREFIX", "elsewhere")
    nous("import", stdin="\n".join(map(json.dumps, (first, second))))

    lines = nous("facts").stdout.splitlines()

    assert lines[0::2] == ["Tim drinks tea", PORT]
    assert "2020-01-02" in lines[1]


def test_who_types_facts_is_told_what_is_waited_for_and_in_which_form(nous: Nous) -> None:
    assert "nous: reading facts from this terminal" in on_terminal("facts", "learn", answer='"Tim drinks tea"\n\x04')[0]
    assert 'write "The API is on port 8080" in quotes, or {"text"' in nous("facts", "learn", stdin=PORT).stderr


def test_a_folder_and_a_file_of_no_format_lead_to_what_can_be_read(nous: Nous, tmp_path: Path) -> None:
    (tmp_path / "odd.bin").write_bytes(bytes(range(256)) * 99)

    assert f"no file in {tmp_path} holds a session" in nous("publish", tmp_path).stderr
    assert "`nous dev formats` lists what it can" in nous("publish", tmp_path / "odd.bin").stderr


def test_who_does_not_want_to_wait_is_told_what_is_not_dealt_with_yet(nous: Nous, tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(told("otherwords"))

    at_once = nous("publish", file, "--wait", "--timeout", "0")

    assert (at_once.stdout.split()[3], at_once.exit_code) == ("waiting", FAILED)
    assert "1 not finished yet; `nous status SESSION` shows where it is" in at_once.stderr
    assert "is not in the range x>=0" in nous("publish", file, "--wait", "--timeout", "-1").stderr


def test_what_comes_from_a_pipe_is_refused_as_nobody_can_read_it_later(nous: Nous, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", "-"):
        refused = nous("publish", path, stdin=told("otherwords"))
        assert refused.stderr.startswith(f"nous: {path} is ")
        assert refused.stderr.endswith(
            "; it can be read only once, and workers read a session later: save it to a file, and publish that\n"
        )
        assert refused.exit_code == BAD_INPUT
