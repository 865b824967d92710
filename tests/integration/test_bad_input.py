"""Bad input, as a user would give it: one clear line, an exit code, and the good input beside it is not lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous

from nous.app.container import Container
from nous.cli.framework import BAD_INPUT, MISCONFIGURED, UNAVAILABLE
from nous.domain.scope import LONGEST_PART

GOOD = "User: Hello, please remember that I live in Berlin.\n\nAssistant: I will remember that you live in Berlin.\n"
MEGABYTE = 1 << 20
TOO_LONG = "a" * 300


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("missing.txt", None, "there is no file "),
        ("empty.txt", b"", "empty.txt holds nothing that anybody said"),
        ("binary.bin", bytes(range(256)) * 99, "no transcript that nous can read"),
        ("/dev/zero", None, "/dev/zero is a device, not a file"),
        ("..", None, "is a directory; name the files in it, or sweep it"),
        (TOO_LONG, None, "could not be read: File name too long"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_the_others_are_published(
    nous: Nous, tmp_path: Path, name: str, content: bytes | None, complaint: str
) -> None:
    (tmp_path / "good.txt").write_text(GOOD)
    if content is not None:
        (tmp_path / name).write_bytes(content)

    result = nous("publish", tmp_path / name, tmp_path / "good.txt")

    assert result.exit_code == BAD_INPUT
    assert complaint in result.stderr
    assert "good" in result.stdout


@pytest.mark.parametrize("name", ["chats/monday", "monday.jsonl", "monday.json"])
def test_a_heartbeat_of_a_mistyped_file_is_no_session(nous: Nous, name: str) -> None:
    result = nous("heartbeat", name)

    assert (result.exit_code, result.stderr) == (BAD_INPUT, f"nous: there is no file {name}\n")


def test_a_session_in_a_folder_whose_name_is_no_utf_8_is_published(nous: Nous, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "good.txt").write_text(GOOD)

    published, swept = nous("publish", folder / "good.txt"), nous("watch", "--once", "--idle", "0.001", tmp_path)
    assert (published.exit_code, swept.exit_code) == (0, 0), published.stderr


def test_a_name_that_no_file_can_have_is_an_id_and_no_folder(nous: Nous) -> None:
    assert nous("heartbeat", TOO_LONG).exit_code == 0
    assert "File name too long" in nous("watch", "--once", TOO_LONG).stderr


def test_a_line_of_200_megabytes_is_refused_without_filling_the_memory(nous: Nous, tmp_path: Path) -> None:
    with (tmp_path / "huge.jsonl").open("wb") as huge:
        huge.write(b'{"type":"user","message":"')
        for _ in range(200):
            huge.write(b"a" * MEGABYTE)
        huge.write(b'"}\n')

    result = nous("publish", tmp_path / "huge.jsonl")

    assert result.exit_code == BAD_INPUT
    assert "a line longer than" in result.stderr


def test_an_absent_server_is_named(nous: Nous, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_REDIS_URL", "redis://:secret@127.0.0.1:1/0")

    result = nous("status")

    assert result.exit_code == UNAVAILABLE
    assert "no server answers at redis://:***@127.0.0.1:1/0" in result.stderr


def test_an_unknown_worker_is_answered_with_those_there_are(nous: Nous) -> None:
    result = nous("worker", "fact-extractr")

    assert result.exit_code == BAD_INPUT
    assert "there are decision-keeper, episode-embedder" in result.stderr


def test_a_data_directory_that_cannot_be_written_is_named(
    nous: Nous, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NOUS_DATA_DIR", str(tmp_path / "file"))

    result = nous("status")

    assert result.exit_code == MISCONFIGURED
    assert f"cannot keep data in {tmp_path / 'file'}" in result.stderr


def test_a_second_nous_up_says_that_there_is_one(nous: Nous, wait_until: Any) -> None:
    command = [sys.executable, "-m", "nous", "up"]
    with subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        try:
            wait_until(lambda: "no worker runs" not in nous("status").stdout, "the first to be up")
            second = nous("up")
        finally:
            first.send_signal(signal.SIGTERM)

    assert second.exit_code == MISCONFIGURED
    assert "nous is already up" in second.stderr
    assert first.returncode == 0


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
    "show": lambda name, _: ["show", name],
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
