"""Names that no session, agent or scope can have: refused by name on every way in, with nothing written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous

from nous.app.container import Container
from nous.cli.framework import BAD_INPUT
from nous.domain.scope import LONGEST_PART

GOOD = "User: Please remember that I live in Berlin.\n\nAssistant: I will.\n"
NAMES = {
    "blank": "   ",
    "NUL": "a\0bcd",
    "line break": "a\nbcd",
    "a million": "x" * 1_000_000,
    "lone surrogate": "a\udc80bcd",
}
PARTS = {**NAMES, "too long": "x" * (LONGEST_PART + 1), "four parts": "a/b/c/d", "no project": "a/"}
LONGEST_MESSAGE = 3100

Command = Callable[[str, str], list[str]]

SESSIONS: dict[str, Command] = {
    "publish": lambda name, file: ["publish", file, "--session", name],
    "publish, agent": lambda name, file: ["publish", file, "--agent", name],
    "record-decision": lambda name, _: ["record-decision", name, "we take Redis"],
    "learn": lambda name, _: ["facts", "learn", "--session", name],
    "forget": lambda name, _: ["forget", "--session", name, "--yes"],
    "status": lambda name, _: ["status", name],
    "session-summary": lambda name, _: ["session-summary", name],
    "editions": lambda name, _: ["episodes", "--editions", name],
    "transcript": lambda name, _: ["transcript", name],
    "search-turns": lambda name, _: ["search-turns", "Berlin", name],
    "provenance": lambda name, _: ["provenance", name],
    "dead-letters": lambda name, _: ["dead-letters", "show", name],
}
SCOPES: dict[str, Command] = {
    "publish": lambda name, file: ["publish", file, "--scope", name],
    "forget all": lambda name, _: ["forget", "--scope", name, "--yes"],
    "provenance": lambda name, _: ["provenance", "abcdef", "--scope", name],
}
"""One command for each kind of option `--scope`."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "good.txt"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def keys(container: Container) -> Callable[[], dict[bytes, bytes]]:
    """Everything on the server, each key as it is."""
    client: Any = container.client
    return lambda: {key: client.dump(key) for key in client.keys("*")}


@pytest.mark.parametrize(
    ("command", "names"),
    [pytest.param(each, NAMES, id=f"{name} session") for name, each in SESSIONS.items()]
    + [pytest.param(each, PARTS, id=f"{name} scope") for name, each in SCOPES.items()],
)
def test_a_command_refuses_what_can_be_no_name(
    nous: Nous, file: str, keys: Callable[[], dict[bytes, bytes]], command: Command, names: dict[str, str]
) -> None:
    nous("publish", file, "--session", "a session")
    before = keys()

    for what, name in names.items():
        result = nous(*command(name, file), stdin='"The sky is blue."\n')

        assert (what, result.exit_code) == (what, BAD_INPUT), result.stderr
        assert result.stderr.startswith("nous: ")
        assert result.stderr.rstrip("\n").isprintable(), what
        assert len(result.stderr) < LONGEST_MESSAGE, what
    assert keys() == before
