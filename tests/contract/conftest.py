"""What the contract tests run against: a real server, the one that comes with the product, and every bus."""

from collections.abc import Iterator
from typing import Any

import fakeredis
import pytest
import redis
from builders import buses, servers, stores
from builders.buses import BusWorld
from builders.stores import Store

from nous.jobs.base import BARE
from nous.jobs.rq.queue import RqJobs


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    with servers.running() as url:
        yield url


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    with servers.emptied(redis_server) as client:
        yield client


@pytest.fixture
def jobs(redis_client: redis.Redis) -> RqJobs:
    """RQ as the queue of attempts, on a server with nothing in it."""
    return RqJobs(redis_client, BARE, deadline=600, result_ttl=60, failure_ttl=60)


@pytest.fixture(params=["memory", "fakeredis", "server"])
def kept_on(request: pytest.FixtureRequest) -> redis.Redis | None:
    """Each place where things are kept, in turn and with nothing in it; none is the memory of this process."""
    match request.param:
        case "memory":
            return None
        case "fakeredis":
            return _fake()
        case _:
            return request.getfixturevalue("redis_client")


@pytest.fixture(params=["fakeredis", "server"])
def client(request: pytest.FixtureRequest) -> redis.Redis:
    """Each server in turn, with nothing in it: for what only keys can show."""
    if request.param == "fakeredis":
        return _fake()
    return request.getfixturevalue("redis_client")


@pytest.fixture
def world(kept_on: redis.Redis | None, clock: Any) -> BusWorld:
    """Each bus in turn."""
    return buses.in_memory(clock) if kept_on is None else buses.on_redis(kept_on, clock)


@pytest.fixture
def store(kept_on: redis.Redis | None) -> Store:
    """Each store in turn."""
    return stores.in_memory() if kept_on is None else stores.on_redis(kept_on)


def _fake() -> redis.Redis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
