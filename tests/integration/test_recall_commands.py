"""What the commands that find and tell say, on a real server."""

import json

from builders.command_line import Nous

from nous.cli.framework import BAD_INPUT

PORT = "The staging API listens on port 8080"


def test_of_a_scope_that_nobody_has_written_to_it_is_said(nous: Nous) -> None:
    for command in (("search", "port"), ("context",)):
        assert "nothing is known in default/default/nope" in nous(*command, "--scope", "nope").stderr

    nous("facts", "learn", stdin=json.dumps(PORT))
    assert "nothing is known" not in nous("search", "weather").stderr + nous("context").stderr


def test_a_query_that_is_passed_over_is_named(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))

    assert "'ok' names nothing to look for" in nous("context", "--query", "ok").stderr
    assert nous("context", "--query", "staging").stderr == nous("context").stderr == ""


def test_a_scope_that_is_not_there_is_refused_where_it_would_change(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(PORT))

    result = nous("reembed", "--scope", "nope")

    assert result.stderr.startswith("nous: there is no scope default/default/nope, nor anything of it; ")
    assert result.exit_code == BAD_INPUT
