"""How long those who would append wait for somebody who makes a log anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import redis
from builders import stores
from builders.fact_rows import HOME, learned
from builders.stores import KEYS, Store
from redis.client import Pipeline

from nous.domain.effects import AppendFacts
from nous.domain.fact import LogVersion, Row
from nous.knowledge.erase import Erased, without_session
from nous.store.redis.erasure import RedisErasure


def held_for(client: redis.Redis) -> int:
    """Seconds."""
    return client.ttl(KEYS.rewriting(HOME))  # pyright: ignore[reportReturnType]


class Watched(redis.Redis):
    """A client which tells how long the log is held whenever something of it is read or written aside.

    Each such step takes so long that hardly anything of that is left.
    """

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self.held: list[int] = []

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 (as it is there)
        self.held.append(held_for(self))
        self.expire(KEYS.rewriting(HOME), 3)
        return super().pipeline(transaction, shard_hint)


class Repeating(redis.Redis):
    """A client that sends each script twice, as after a reply that was lost, and hears of the second alone."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(connection_pool=client.connection_pool)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if args[0] == "EVALSHA":
            super().execute_command(*args, **options)
        return super().execute_command(*args, **options)


def some_facts(store: Store, others: int = 1) -> tuple[Row, ...]:
    """Have *store* learn a fact of the session "s" and some of *others*, which are returned."""
    gone, *stay = (learned(f"fact {number}", embedded_by=None) for number in range(1 + others))
    elsewhere = replace(gone.fact.source, session_id="other")
    kept = tuple(replace(row, fact=replace(row.fact, source=elsewhere)) for row in stay)
    assert store.write(AppendFacts(scope=HOME, expected=LogVersion(), rows=(gone, *kept)))
    return kept


def test_a_log_whose_swap_was_not_heard_of_has_taken_its_place(client: redis.Redis) -> None:
    store = stores.on_redis(client)
    kept = some_facts(store)

    erased = RedisErasure(Repeating(client), KEYS).rewrite(HOME, lambda rows: without_session(rows, "s"))

    assert erased.has_changed
    assert store.facts.read(HOME).rows == kept


def test_a_log_is_held_for_a_short_time_which_begins_anew_with_each_step(client: redis.Redis) -> None:
    store, watched = stores.on_redis(client), Watched(client)
    kept = some_facts(store, others=1100)  # they are written in two steps

    def slowly(rows: Sequence[Row]) -> Erased:
        watched.held.append(held_for(client))
        client.expire(KEYS.rewriting(HOME), 3)
        return without_session(rows, "s")

    RedisErasure(watched, KEYS).rewrite(HOME, slowly)

    assert len(watched.held) >= 4
    assert all(15 < each <= 20 for each in watched.held)
    assert not client.exists(KEYS.rewriting(HOME))
    assert store.facts.read(HOME).rows == kept


def test_a_log_that_was_made_anew_is_kept(client: redis.Redis) -> None:
    store = stores.on_redis(client)
    some_facts(store)

    RedisErasure(client, KEYS).rewrite(HOME, lambda rows: without_session(rows, "s"))

    assert {client.ttl(key) for key in (KEYS.fact_head(HOME), KEYS.fact_rows(HOME))} == {-1}
