"""The command line, as tests call it."""

import os
from collections.abc import Callable
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

    def run(*arguments: str | Path, stdin: str = "") -> Result:
        return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)

    return run
