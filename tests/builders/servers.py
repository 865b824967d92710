"""A real server, the one that comes with the product, and a fake one within the process."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import fakeredis
import pytest
import redis

from nous.domain.errors import Misconfigured
from nous.redis_server import embedded


@contextmanager
def running() -> Generator[str]:
    """The URL of a server that lives as long as the block. Its directory has a short name, as sockets need it."""
    try:
        embedded.find_program()
    except Misconfigured as error:
        pytest.skip(str(error))
    with TemporaryDirectory(prefix="nous-") as directory:
        try:
            yield embedded.ensure(Path(directory))
        finally:
            embedded.stop(Path(directory))


@contextmanager
def emptied(url: str) -> Generator[redis.Redis]:
    """A client of an empty database."""
    with redis.Redis.from_url(url, socket_timeout=10) as client:
        client.flushall()
        yield client


def fake() -> redis.Redis:
    """A client of a server of its own, without a process."""
    return fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
