import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nous.cli.transcript import transcript
from nous.errors import NotFound

TEXT = "User: hi\n\nAssistant: hello\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    written = tmp_path / "session.txt"
    written.write_text(TEXT)
    return str(written)


def test_a_session_is_shown(path: str) -> None:
    result = CliRunner().invoke(transcript, [path])

    assert result.exit_code == 0
    assert "> hi\n    hello" in result.output


def test_a_session_is_printed_as_json(path: str) -> None:
    result = CliRunner().invoke(transcript, [path, "--json"])

    assert [json.loads(line).get("text") for line in result.output.splitlines()] == [None, "hi", "hello", None]


def test_turns_are_printed_as_they_are_searched(path: str) -> None:
    assert CliRunner().invoke(transcript, [path, "--summaries"]).output == "[User] hi\n\n[Assistant] hello\n"


def test_a_session_is_read_from_standard_input() -> None:
    assert "> hi" in CliRunner().invoke(transcript, ["-", "--format", "plain-text"], input=TEXT).output


def test_what_is_not_there_is_left_to_the_caller_to_explain() -> None:
    assert isinstance(CliRunner().invoke(transcript, ["/no/such/file"]).exception, NotFound)
