"""A real server for the contract tests: the one that comes with the product."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from nous.errors import Misconfigured
from nous.server import binary, embedded


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The URL of a server that lives as long as the tests. Its directory has a short name, as sockets need it."""
    try:
        binary.find()
    except Misconfigured as error:
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory(prefix="nous-") as directory:
        try:
            yield embedded.ensure(Path(directory))
        finally:
            embedded.stop(Path(directory))


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    """A client of an empty database."""
    with redis.Redis.from_url(redis_server, socket_timeout=10) as client:
        client.flushall()
        yield client
