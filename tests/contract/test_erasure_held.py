"""How long those who would append wait for somebody who makes a log anew."""

from collections.abc import Sequence
from dataclasses import replace

import fakeredis
import pytest
import redis
from builders import stores
from builders.fact_rows import HOME, learned
from builders.stores import KEYS
from redis.client import Pipeline

from nous.effects import AppendFacts
from nous.fact import LogVersion, Row
from nous.learning.erasing import Erased, without_session
from nous.store.redis_erasure import RedisErasure


@pytest.fixture(params=["fakeredis", "server"])
def client(request: pytest.FixtureRequest) -> redis.Redis:
    if request.param == "fakeredis":
        return fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    return request.getfixturevalue("redis_client")


def held_for(client: redis.Redis) -> int:
    """Seconds."""
    return client.ttl(KEYS.rewriting(HOME))  # pyright: ignore[reportReturnType]


class Watched(redis.Redis):
    """A client which tells how long the log is held whenever something of it is read or written aside."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self.held: list[int] = []

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 (as it is there)
        self.held.append(held_for(self))
        return super().pipeline(transaction, shard_hint)


def test_a_log_is_held_for_a_short_time_which_begins_anew_with_each_step(client: redis.Redis) -> None:
    store, watched = stores.on_redis(client), Watched(client)
    gone, stays = (learned(text, embedded_by=None) for text in ("gone", "stays"))
    other = replace(stays, fact=replace(stays.fact, source=replace(stays.fact.source, session_id="other")))
    assert store.write(AppendFacts(scope=HOME, expected=LogVersion(), rows=(gone, other)))

    def slowly(rows: Sequence[Row]) -> Erased:
        watched.held.append(held_for(client))
        client.expire(KEYS.rewriting(HOME), 3)
        return without_session(rows, "s")

    RedisErasure(watched, KEYS).rewrite(HOME, slowly)

    assert len(watched.held) >= 3
    assert all(15 < each <= 20 for each in watched.held)
    assert not client.exists(KEYS.rewriting(HOME))
    assert store.facts.read(HOME).rows == (other,)
