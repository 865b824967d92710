"""What the contract tests run against: a real server, the one that comes with the product, and every bus."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import fakeredis
import pytest
import redis
from builders import stores
from builders.stores import Store

from nous.bus.base import Bus, Lane, Receipt, Subscription
from nous.bus.keys import BusKeys
from nous.bus.ledger import Account, DeadLetters, Ledger
from nous.bus.memory import MemoryBus
from nous.bus.plan import Plan
from nous.bus.redis import RedisBus
from nous.bus.redis_dead import RedisDeadLetters
from nous.bus.redis_ledger import RedisLedger
from nous.errors import Misconfigured
from nous.events import Event, SessionEnded
from nous.jobs.rq.queue import RqJobs
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


@pytest.fixture
def jobs(redis_client: redis.Redis) -> RqJobs:
    """RQ as the queue of attempts, on a server with nothing in it."""
    return RqJobs(redis_client, deadline=600, result_ttl=60, failure_ttl=60)


SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LEASE = 60.0


@dataclass
class BusWorld:
    """A bus, its books, and the clock it lives by."""

    bus: Bus
    ledger: Ledger
    dead: DeadLetters
    clock: Any
    foreign_append: Callable[..., object]

    def receive(self, limit: int = 10, subscription: Subscription = SUMMARIZER, lane: Lane = Lane.LIVE) -> list[Any]:
        return list(self.bus.receive(subscription, lane=lane, limit=limit, lease=LEASE))

    def publish(self, *events: Event) -> list[Receipt]:
        return list(self.bus.publish(*events))

    @property
    def account(self) -> Account:
        return self.ledger.account(SUMMARIZER)


def _in_memory(clock: Any) -> BusWorld:
    bus = MemoryBus(clock=clock)
    return BusWorld(bus, bus, bus, clock, partial(bus.append, "session_ended"))


def _on_redis(client: redis.Redis, clock: Any) -> BusWorld:
    keys = BusKeys("t")
    bus = RedisBus(client, plan_of=lambda _: Plan(), keys=keys, clock=clock)

    def append(raw: bytes, entry: str = "*") -> None:
        client.xadd(keys.stream("session_ended", Lane.LIVE), {"event": raw}, id=entry)

    return BusWorld(bus, RedisLedger(client, keys), RedisDeadLetters(client, keys, clock=clock), clock, append)


@pytest.fixture(params=["memory", "fakeredis", "server"])
def kept_on(request: pytest.FixtureRequest) -> redis.Redis | None:
    """Each place where things are kept, in turn and with nothing in it; none is the memory of this process."""
    match request.param:
        case "memory":
            return None
        case "fakeredis":
            return fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
        case _:
            return request.getfixturevalue("redis_client")


@pytest.fixture
def world(kept_on: redis.Redis | None, clock: Any) -> BusWorld:
    """Each bus in turn."""
    return _in_memory(clock) if kept_on is None else _on_redis(kept_on, clock)


@pytest.fixture
def store(kept_on: redis.Redis | None) -> Store:
    """Each store in turn."""
    return stores.in_memory() if kept_on is None else stores.on_redis(kept_on)
