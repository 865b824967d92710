"""Every implementation of what is written down of a model's calls, and the clock it lives by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fakeredis
import pytest
import redis

from nous.llm.redis.keys import LlmKeys
from nous.llm.redis.state import RedisCircuitStore, RedisResponseStore, RedisTokenUsageStore, RedisUsageCounters
from nous.llm.state import CircuitStore, ResponseStore, TokenUsageStore, UsageCounters
from nous.llm.state_memory import MemoryCircuitStore, MemoryResponseStore, MemoryTokenUsageStore, MemoryUsageCounters

KINDS = ("memory", "fakeredis", "server", "sent twice")
ANSWER_TTL = 600
KEYS = LlmKeys("t")


@dataclass(frozen=True)
class Books:
    """The four of them; *client* is what they are kept with, if that is Redis."""

    responses: ResponseStore
    allowance: TokenUsageStore
    outages: CircuitStore
    counters: UsageCounters
    clock: Any
    client: redis.Redis | None = None


class Insistent(redis.Redis):
    """Sends every command twice and hears the second reply, as redis-py does when the first one is lost."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        super().execute_command(*args, **options)
        return super().execute_command(*args, **options)


def each_kind(request: pytest.FixtureRequest, clock: Any) -> Iterator[Books]:
    """The books that a fixture's parameter names. Afterwards, no key may be without a TTL that is not documented so."""
    books = _open(request, clock)
    yield books
    assert kept_for_ever(books) <= {"t:calls"}


def _open(request: pytest.FixtureRequest, clock: Any) -> Books:
    match request.param:
        case "memory":
            return in_memory(clock)
        case "fakeredis":
            return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2), clock)
        case "server":
            return on_redis(request.getfixturevalue("redis_client"), clock)
        case _:
            pool = request.getfixturevalue("redis_client").connection_pool
            return on_redis(Insistent(connection_pool=pool), clock)


def in_memory(clock: Any) -> Books:
    responses = MemoryResponseStore(answer_ttl=ANSWER_TTL, clock=clock)
    return Books(responses, MemoryTokenUsageStore(), MemoryCircuitStore(clock=clock), MemoryUsageCounters(), clock)


def on_redis(client: redis.Redis, clock: Any) -> Books:
    return Books(
        RedisResponseStore(client, KEYS, answer_ttl=ANSWER_TTL),
        RedisTokenUsageStore(client, KEYS),
        RedisCircuitStore(client, KEYS, clock=clock),
        RedisUsageCounters(client, KEYS),
        clock,
        client,
    )


def kept_for_ever(books: Books) -> set[str]:
    """The names of the keys that have no TTL."""
    client: Any = books.client
    return {key.decode() for key in client.scan_iter() if client.ttl(key) == -1} if client else set()
