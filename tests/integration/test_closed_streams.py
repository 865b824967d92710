"""Hooks and daemons start programs with their standard streams closed: the server is shared all the same."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from nous.redis_server import embedded

CLOSED = (">&-", "<&- >&- 2>&-")
ENSURED = (
    "import sys; from pathlib import Path; from nous.redis_server import embedded; embedded.ensure(Path(sys.argv[1]))"
)


def run_without(closed: str, *arguments: str, environment: Mapping[str, str]) -> int:
    """The exit code of Python with *arguments*, some of whose standard streams are *closed*."""
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, *arguments]
    return subprocess.run(shell, env=environment, check=False).returncode


@pytest.mark.parametrize("closed", CLOSED)
def test_who_starts_the_server_without_streams_leaves_it_known_to_all(directory: Path, closed: str) -> None:
    assert run_without(closed, "-c", ENSURED, str(directory), environment=os.environ) == 0

    assert embedded.status(directory).state == "running"


@pytest.mark.parametrize("closed", CLOSED)
def test_a_command_does_what_it_is_told_however_few_streams_it_has(directory: Path, closed: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    environment["NOUS_DATA_DIR"] = str(directory)

    assert run_without(closed, "-m", "nous", "touch", "s1", environment=environment) == 0
    assert run_without(closed, "-m", "nous", "sessions", environment=environment) == 0

    assert embedded.status(directory).state == "running"
