"""The command line, as tests call it."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nous.cli import main

Nous = Callable[..., Result]
"""`nous("facts", "learn", stdin="...")` and what came of it."""


def command_line(directory: Path, patch: pytest.MonkeyPatch) -> Nous:
    """The command line with its data in *directory*, an embedder that goes by words, and no other setting.

    A variable that is set with *patch* is one from then on.
    """
    for name in [name for name in os.environ if name.startswith("NOUS_")]:
        patch.delenv(name)
    patch.setenv("NOUS_DATA_DIR", str(directory))
    patch.setenv("NOUS_EMBEDDER", "hashed")
    patch.setenv("NOUS_SCOPE", "default")

    def run(*arguments: str | Path, stdin: str = "") -> Result:
        return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)

    return run


def on_terminal(*arguments: str | Path, answer: str = "") -> tuple[str, int]:
    """What the command line says on a terminal of 80 columns, on which *answer* is typed, and its exit code."""
    own, its = pty.openpty()
    command = [sys.executable, "-m", "nous", *map(str, arguments)]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=os.environ | {"COLUMNS": "80"}) as process:
        os.close(its)
        os.write(own, answer.encode())
        said = b"".join(_read(own))
    os.close(own)
    return said.decode().replace("\r\n", "\n"), process.returncode


def _read(terminal: int) -> Iterator[bytes]:
    try:
        while told := os.read(terminal, 1 << 16):
            yield told
    except OSError:  # how Linux says that nobody has it open any more
        return
