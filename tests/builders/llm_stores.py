"""The state of model calls, on a fake Redis and on real ones, and the clock it lives by."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import redis

from builders import servers
from nous.llm.state import CircuitStore, LlmKeys, LlmStores, ResponseStore, TokenUsageStore, UsageCounters

KINDS = ("fakeredis", "server", "sent twice")
ANSWER_TTL = 600
KEYS = LlmKeys("t")


@dataclass(frozen=True, kw_only=True)
class Books(LlmStores):
    """The four stores, and what they are kept with."""

    client: redis.Redis
    clock: Any


class Insistent(redis.Redis):
    """Sends every command twice and hears the second reply, as redis-py does when the first one is lost."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        super().execute_command(*args, **options)
        return super().execute_command(*args, **options)


def each_kind(request: pytest.FixtureRequest, clock: Any) -> Iterator[Books]:
    """The books that a fixture's parameter names. Afterwards, no key may be without a TTL that is not documented so."""
    books = on_redis(_client(request), clock)
    yield books
    client: Any = books.client
    assert {key.decode() for key in client.scan_iter() if client.ttl(key) == -1} <= {"t:calls"}


def _client(request: pytest.FixtureRequest) -> redis.Redis:
    if request.param == "fakeredis":
        return servers.fake()
    client: redis.Redis = request.getfixturevalue("redis_client")
    return client if request.param == "server" else Insistent(connection_pool=client.connection_pool)


def fake_books(clock: Callable[[], float]) -> Books:
    return on_redis(servers.fake(), clock)


def fake_counters() -> UsageCounters:
    return UsageCounters(servers.fake(), KEYS)


def on_redis(client: redis.Redis, clock: Any) -> Books:
    return Books(
        responses=ResponseStore(client, KEYS, answer_ttl=ANSWER_TTL),
        token_usage=TokenUsageStore(client, KEYS),
        circuits=CircuitStore(client, KEYS, clock=clock),
        counters=UsageCounters(client, KEYS),
        client=client,
        clock=clock,
    )
