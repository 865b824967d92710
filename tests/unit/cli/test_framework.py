"""The frame of the command line: what is imported when, what errors look like, and the exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.exceptions import Exit
from click.testing import CliRunner

from nous.cli import COMMANDS, DEVELOPER_COMMANDS, main
from nous.cli.framework import EXIT_CODES, CommandEntry, Frame
from nous.domain.errors import BadInput, Fatal, Misconfigured, Unavailable
from nous.redis_server.data_dir import locate


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings and no data of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith(("NOUS_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], Frame]:
    """A command line whose only command, `it`, raises."""

    def ending(error: BaseException) -> Frame:
        def end() -> None:
            raise error

        module = SimpleNamespace(command=click.command(end))
        monkeypatch.setitem(sys.modules, "made_up", module)  # pyright: ignore[reportArgumentType]
        return Frame(
            table=[CommandEntry("it", "made_up:command", "Does it.")], params=[click.Option(["--debug"], is_flag=True)]
        )

    return ending


@pytest.mark.parametrize("command", [*COMMANDS, *DEVELOPER_COMMANDS], ids=lambda command: command.name)
def test_every_command_has_help_and_a_developer_s_works_with_and_without_dev(command: CommandEntry) -> None:
    groups = [["dev"], []] if command in DEVELOPER_COMMANDS else [[]]

    for group in groups:
        result = CliRunner().invoke(main, [*group, command.name, "--help"])
        assert (result.exit_code, "Usage: " in result.output) == (0, True)


def test_help_lists_every_command_with_what_it_does_and_every_exit_code() -> None:
    text = " ".join(CliRunner().invoke(main, ["--help"]).output.split())

    assert [command.name for command in COMMANDS if f"{command.name} {command.help}" not in text] == []
    assert [code for code, meaning in EXIT_CODES.items() if f"{code} {meaning}" not in text] == []


@pytest.mark.parametrize(
    ("script", "unused"),
    [
        (
            "from nous.cli import main; main(['--help'], standalone_mode=False)",
            "pydantic redis rq numpy structlog onnxruntime nous.settings nous.redis_server",
        ),
        (
            "import nous.cli.search, nous.app.container, nous.app.memory",
            "nous.bus nous.domain.events nous.domain.effects nous.knowledge.judge numpy rq",
        ),
    ],
    ids=["help", "commands that only read"],
)
def test_what_a_command_does_not_need_is_not_loaded(script: str, unused: str) -> None:
    shown = f"{script}\nimport sys; print(sorted({{*sys.modules}} & {set(unused.split())}), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=False)

    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BadInput("not a transcript"), 3, "nous: not a transcript\n"),
        (Misconfigured("wrong setting"), 4, "nous: wrong setting\n"),
        (Unavailable("no server"), 5, "nous: no server\n"),
        (Fatal("hopeless"), 1, "nous: hopeless\n"),
        (KeyboardInterrupt(), 130, "nous: interrupted\n"),
        (click.Abort(), 130, "nous: interrupted\n"),
        (KeyError("x"), 70, "nous: a defect: KeyError: 'x' (--debug before the command shows where)\n"),
        (Exit(1), 1, ""),
    ],
    ids=repr,
)
def test_each_end_has_its_exit_code_and_one_line(
    error: BaseException, code: int, message: str, ending: Callable[[BaseException], Frame]
) -> None:
    result = CliRunner().invoke(ending(error), ["it"])

    assert (result.exit_code, result.stderr, result.stdout) == (code, message, "")


def test_debug_keeps_the_traceback(ending: Callable[[BaseException], Frame]) -> None:
    assert isinstance(CliRunner().invoke(ending(BadInput("here")), ["--debug", "it"]).exception, BadInput)


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("User: Hello\n\nAssistant: Hello to you\n\n" * 10_000)
    pipe = ["bash", "-o", "pipefail", "-c", '"$0" -m nous transcript "$1" | head -n 1', sys.executable, str(chat)]

    done = subprocess.run(pipe, capture_output=True, check=False)

    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)


def test_config_shows_each_setting_with_its_origin_and_the_server(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("[worker]\nconcurrency = 3\n")

    result = CliRunner(env={"NOUS_DATA_DIR": "/data"}).invoke(main, ["--config", "my.toml", "config", "--json"])

    shown = json.loads(result.stdout)
    assert shown["file"] == "my.toml"
    assert shown["settings"]["worker.concurrency"] == {"value": 3, "origin": "my.toml"}
    assert shown["settings"]["data_dir"] == {"value": "/data", "origin": "environment"}
    assert shown["settings"]["prefix"] == {"value": "nous", "origin": "default"}
    assert shown["server"] == {"url": locate(Path("/data")).url, "embedded": True, "state": "stopped"}


def test_config_tells_no_password() -> None:
    result = CliRunner(env={"NOUS_REDIS_URL": "redis://:geheim@host"}).invoke(main, ["config"])

    assert "redis://:***@host" in result.stdout
    assert "geheim" not in result.stdout


def test_a_mistake_in_the_settings_ends_any_command_with_its_code() -> None:
    result = CliRunner(env={"NOUS_NONSENSE": "1"}).invoke(main, ["down"])

    assert (result.exit_code, result.stderr.count("\n")) == (4, 1)
    assert "NOUS_NONSENSE" in result.stderr


def test_down_never_stops_a_server_that_is_not_ours() -> None:
    result = CliRunner(env={"NOUS_REDIS_URL": "redis://:geheim@host:1"}).invoke(main, ["down", "--json"])

    assert json.loads(result.stdout) == {"stopped": False, "embedded": False, "url": "redis://:***@host:1"}
