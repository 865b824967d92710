"""The servers of the contract tests: a real one, the embedded one, and a fake one."""

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from builders import buses, servers
from builders.buses import BusWorld
from builders.stores import WholeStore

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


@pytest.fixture(params=["fakeredis", "server"])
def client(request: pytest.FixtureRequest) -> redis.Redis:
    """Each server in turn, with nothing in it."""
    if request.param == "fakeredis":
        return servers.fake()
    return request.getfixturevalue("redis_client")


@pytest.fixture
def world(client: redis.Redis, clock: Any) -> BusWorld:
    """The bus on each server in turn."""
    return buses.on_redis(client, clock)


@pytest.fixture
def store(client: redis.Redis) -> WholeStore:
    """The store on each server in turn."""
    return WholeStore(client, prefix="t")
