"""What the commands that find and tell say, on a real server."""

import json
from pathlib import Path

import pytest
from builders.command_line import Nous

from nous.cli.framework import BAD_INPUT

PORT = "The staging API listens on port 8080"
CHAT = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "Port 8080."}]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    return file


def test_of_a_scope_that_nobody_has_written_to_it_is_said(nous: Nous) -> None:
    for command in (("search", "port"), ("context",)):
        assert "nothing is known in default/default/nope" in nous(*command, "--scope", "nope").stderr

    nous("facts", "learn", stdin=json.dumps(PORT))
    assert "nothing is known" not in nous("search", "weather").stderr + nous("context").stderr


def test_a_query_that_is_passed_over_is_named(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))

    assert "'ok' names nothing to look for" in nous("context", "--query", "ok").stderr
    assert nous("context", "--query", "staging").stderr == nous("context").stderr == ""


def test_while_the_embedder_does_not_answer_a_search_goes_by_words_and_says_so(
    nous: Nous, monkeypatch: pytest.MonkeyPatch
) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))
    monkeypatch.setenv("NOUS_EMBEDDER", "ollama:x")
    monkeypatch.setenv("NOUS_EMBED__BASE_URL", "http://127.0.0.1:9/v1")

    result = nous("search", "staging port")

    assert PORT in result.stdout
    assert "nous: found by words and files alone" in result.stderr


def test_a_scope_that_is_not_there_is_refused_by_whatever_would_change_or_carry_it(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))

    for command in ("export", "reembed", "reindex"):
        result = nous(command, "--scope", "nope")
        assert result.stderr.startswith("nous: there is no scope default/default/nope, nor anything of it; ")
        assert result.exit_code == BAD_INPUT


def test_what_is_no_transcript_is_not_looked_through(nous: Nous, tmp_path: Path) -> None:
    note = tmp_path / "SOURCE.txt"
    note.write_text("Where these files are from.\n")

    assert "has no turns to search" in nous("recall", "files", note).stderr
    assert f"nous: there is no file {tmp_path / 'none'}; " in nous("recall", "files", tmp_path / "none").stderr


def test_why_two_facts_are_kept_is_told_once(nous: Nous) -> None:
    for text in ("Node 3 of the cluster has 4 cores", "Node 2 of the cluster has 4 cores"):
        nous("facts", "learn", stdin=json.dumps(text))
    [_, late] = json.loads(nous("facts", "--json").stdout)
    [link] = late["links"]

    told = nous("why", late["id"]).stdout

    assert "it is kept beside another, see below" in told
    assert told.count(link["reason"]) == 1


def test_a_reason_that_several_rows_share_after_a_forgetting_is_told_of_the_right_one(nous: Nous) -> None:
    said = {"s1": "port 8080", "s2": "port 8081", "s3": "port 8081.", "s4": "port 8082"}
    for session, port in said.items():
        fact = {"text": f"The staging API listens on {port}", "subject": "staging API"}
        nous("facts", "learn", "--session", session, stdin=json.dumps(fact))
    nous("forget", "--session", "s2", "--scope", "default", "--yes")
    first, _, last = (fact["id"] for fact in json.loads(nous("facts", "--all", "--json").stdout))

    assert "learned" in nous("why", first).stdout
    assert ": it gave way to another" not in nous("why", first).stdout
    assert ": it took the place of another, see below" in nous("why", last).stdout


def test_text_and_json_name_the_session_that_said_it_last_and_its_date(nous: Nous) -> None:
    for session in ("mon", "tue"):
        nous("facts", "learn", "--session", session, stdin=json.dumps(PORT))

    [hit] = json.loads(nous("search", "port 8080", "--json").stdout)

    assert hit["session_id"] == "tue"
    assert f"session tue, {hit['date'][:10]}  {hit['id']}" in nous("search", "port 8080").stdout


def test_an_embedder_that_does_not_answer_is_named_where_facts_could_not_be_compared(
    nous: Nous, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_EMBEDDER", "ollama:nomic-embed-text")
    monkeypatch.setenv("NOUS_EMBED__BASE_URL", "http://127.0.0.1:9/v1")

    told = nous("facts", "learn", stdin='"The API is on port 8080"').stderr

    assert "nous: 1 fact of the scope has no vector by ollama:nomic-embed-text and could not be compared" in told
