"""What the commands that find and tell say, on a real server."""

import json
from pathlib import Path

import pytest
from builders.command_line import Nous

from nous.cli.frame import BAD_INPUT

PORT, OTHER_PORT = "The staging API listens on port 8080", "The staging API listens on port 8081"
CHAT = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "Port 8080."}]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    return file


def test_of_a_scope_that_nobody_has_written_to_it_is_said(nous: Nous) -> None:
    for command in (("search", "port"), ("context",)):
        assert "nothing is known in nope" in nous(*command, "--scope", "nope").stderr

    nous("facts", "learn", stdin=json.dumps(PORT))
    assert "nothing is known" not in nous("search", "weather").stderr + nous("context").stderr


def test_a_query_that_is_passed_over_is_named(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))

    assert "'ok' names nothing to look for" in nous("context", "--query", "ok").stderr
    assert nous("context", "--query", "staging").stderr == nous("context").stderr == ""


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("",), "the query is empty"),
        (("port", "--since-turn", "1"), "--since-turn 1 leaves no turn to look through: the first is turn 1"),
    ],
)
def test_a_session_in_which_nothing_can_be_found_is_refused(
    nous: Nous, chat: Path, options: tuple[str, ...], complaint: str
) -> None:
    query, *more = options
    result = nous("recall", query, chat, *more)

    assert complaint in result.stderr
    assert result.exit_code == BAD_INPUT


def test_what_is_no_transcript_is_not_looked_through(nous: Nous, tmp_path: Path) -> None:
    note = tmp_path / "SOURCE.txt"
    note.write_text("Where these files are from.\n")

    assert "nobody has answered anybody" in nous("recall", "files", note).stderr
    assert nous("recall", "files", tmp_path / "none").stderr == f"nous: there is no file {tmp_path / 'none'}\n"


def test_episodes_are_not_searched_by_category(nous: Nous) -> None:
    result = nous("search", "port", "--kind", "episode", "--category", "tool")

    assert "episodes have no category" in result.stderr
    assert result.exit_code == BAD_INPUT


def test_why_two_facts_are_kept_is_told_once(nous: Nous) -> None:
    for text in (PORT, OTHER_PORT):
        nous("facts", "learn", stdin=json.dumps(text))
    [_, late] = json.loads(nous("facts", "--json").stdout)
    [link] = late["links"]

    told = nous("why", late["id"]).stdout

    assert "it is kept beside another, see below" in told
    assert told.count(link["reason"]) == 1


def test_text_and_json_name_the_session_that_said_it_last_and_its_date(nous: Nous) -> None:
    for session in ("mon", "tue"):
        nous("facts", "learn", "--session", session, stdin=json.dumps(PORT))

    [hit] = json.loads(nous("search", "port 8080", "--json").stdout)

    assert hit["session_id"] == "tue"
    assert f"session tue, {hit['date'][:10]}  {hit['id']}" in nous("search", "port 8080").stdout
