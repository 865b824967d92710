"""What taking something out of a store and out of the streams promises, on fakeredis and on a real server."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import redis
from builders.fact_rows import HOME, said
from builders.stores import KEYS, WholeStore
from numpy.typing import NDArray
from redis.client import Pipeline

from nous.bus.base import Duplicate, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import AppendFacts, Effects
from nous.domain.events import SessionEnded
from nous.domain.fact import Embedded, Learned, Row
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased, without_session
from nous.store.redis.erasure import RedisErasure
from nous.store.redis.fact_log import Rewrite

FAST, SLOW = Subscription("fast", SessionEnded), Subscription("slow", SessionEnded)


def unit(seed: int, dim: int = 4) -> NDArray[np.float32]:
    vector = np.arange(seed + 1, seed + 1 + dim, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def add(store: WholeStore, *rows: Row, vectors: dict[UUID, NDArray[np.float32]] | None = None) -> bool:
    expected = store.read(HOME).version
    return store.write(AppendFacts(scope=HOME, expected=expected, rows=rows, vectors=vectors or {}))


def without(session: str) -> Rewrite:
    def rewrite(rows: Sequence[Row]) -> Erased:
        return without_session(rows, session)

    return rewrite


def taught(store: WholeStore, count: int) -> list[Learned]:
    """Facts of two sessions in turn, with vectors by two embedders, of which each takes more than one block."""
    rows = [said(("mine", "theirs")[number % 2], f"fact {number}") for number in range(count)]
    add(store, *rows, vectors={row.fact.id: unit(at) for at, row in enumerate(rows)})
    others = [Embedded(fact_id=row.fact.id, embedded_by="n") for row in rows]
    add(store, *others, vectors={row.fact.id: unit(at, 6) for at, row in enumerate(rows)})
    return rows


def assert_theirs_alone_is_left(store: WholeStore, taught: Sequence[Learned]) -> None:
    left = list(enumerate(taught))[1::2]
    for embedder, dim in (("m", 4), ("n", 6)):
        found = store.read(HOME, embedder=embedder)
        assert [row.fact.id for row in found.rows if isinstance(row, Learned)] == [row.fact.id for _, row in left]
        assert found.vectors.keys() == {row.fact.id for _, row in left}
        for at, row in left:
            np.testing.assert_array_equal(found.vectors[row.fact.id], unit(at, dim))


def test_a_log_is_written_anew_with_the_vectors_of_what_stays(redis_client: redis.Redis) -> None:
    store = WholeStore(redis_client, prefix="t")  # a fake copies the whole block for each vector, which takes a minute
    rows = taught(store, 5000)
    seen = store.read(HOME).version

    erased = RedisErasure(redis_client, KEYS).rewrite(HOME, without("mine"))

    assert (len(erased.gone), erased.lost_vectors) == (2500, 5000)
    assert not any(redis_client.getrange(KEYS.fact_vectors(HOME, "m", dim=4, block=0), 0, 4 * 4 - 1))
    assert store.read(HOME, after=seen).complete
    assert_theirs_alone_is_left(store, rows)


def test_who_has_read_the_old_log_is_refused_and_the_new_one_grows_on(client: redis.Redis) -> None:
    store = WholeStore(client, prefix="t")
    again, late = said("mine", "a", embedded_by=None), said("theirs", "b")
    add(store, again)
    stale = store.read(HOME).version

    RedisErasure(client, KEYS).rewrite(HOME, without("mine"))

    assert store.read(HOME).rows == ()
    assert add(store, again)  # which is as long, and says the same
    append = AppendFacts(scope=HOME, expected=stale, rows=(late,), vectors={late.fact.id: unit(2)})
    assert not store.write(append)
    assert add(store, late, vectors={late.fact.id: unit(2)})
    assert store.read(HOME).rows == (again, late)


def test_what_is_learned_while_a_log_is_written_anew_is_not_lost(client: redis.Redis) -> None:
    store = WholeStore(client, prefix="t")
    add(store, said("mine", "a"), vectors={said("mine", "a").fact.id: unit(1)})
    late = said("theirs", "b")
    calls: list[int] = []

    def rewrite(rows: Sequence[Row]) -> Erased:
        calls.append(len(rows))
        if len(calls) == 1:
            client.delete(KEYS.rewriting(HOME))  # which somebody has looked for before it was there
            assert add(store, late, vectors={late.fact.id: unit(2)})
        return without_session(rows, "mine")

    RedisErasure(client, KEYS).rewrite(HOME, rewrite)

    assert calls == [1, 2]
    assert store.read(HOME).rows == (late,)


class Stopped(redis.Redis):
    """*befalls* is called when the log is about to be replaced: this is its first script."""

    def __init__(self, client: redis.Redis, befalls: Callable[[], object]) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self._befalls = befalls

    def register_script(self, script: Any) -> Any:
        self._befalls()
        return super().register_script(script)


def theirs(erasure: RedisErasure) -> None:
    erasure.rewrite(HOME, without("theirs"))


def test_two_that_forget_at_once_both_come_to_their_end(client: redis.Redis) -> None:
    store = WholeStore(client, prefix="t")
    last = said("last", "c")
    taught(store, 10)
    add(store, last, vectors={last.fact.id: unit(7)})

    RedisErasure(Stopped(client, lambda: theirs(RedisErasure(client, KEYS))), KEYS).rewrite(HOME, without("mine"))

    found = store.read(HOME, embedder="m")
    assert found.rows == (last,)
    np.testing.assert_array_equal(found.vectors[last.fact.id], unit(7))


def test_each_group_counts_what_it_had_not_finished_as_erased_and_cannot_commit_it(
    client: redis.Redis, ended: Any
) -> None:
    keys = BusKeys("t")
    bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=keys, subscriptions=(FAST, SLOW))
    delivery_stats, erasure = RedisDeliveryStats(client, keys), RedisBusErasure(client, keys)
    bus.publish(ended("mine", "done"), ended("theirs"), ended("mine", "in hand"), ended("mine", "waits"))
    done, theirs, in_hand = bus.receive(FAST, priority=Priority.LIVE, limit=3, lease=60)
    bus.commit(done, Effects())

    found = erasure.find(ErasureTarget(scope=Scope(), session_id="mine"))
    counts = erasure.erase(found)

    assert (counts["stream entries"], counts["deliveries"]) == (3, 5)
    assert bus.commit(in_hand, Effects()) == Duplicate()
    fast, slow = delivery_stats.counters(FAST), delivery_stats.counters(SLOW)
    assert (fast.received, fast.done, fast.erased, fast.in_flight, fast.discrepancy) == (4, 1, 2, 1, 0)
    assert (slow.received, slow.erased, slow.discrepancy) == (3, 3, 0)
    assert erasure.erase(found)["deliveries"] == 0
    assert delivery_stats.counters(FAST) == fast
    [left] = bus.receive(SLOW, priority=Priority.LIVE, limit=10, lease=60)
    assert left.event == theirs.event


def test_a_stream_that_is_written_anew_keeps_its_entries_its_groups_and_what_they_have_in_hand(
    redis_client: redis.Redis, ended: Any
) -> None:
    keys, server = BusKeys("t"), redis_client
    bus = RedisBus(server, plan_of=lambda _: CommitPlan(), keys=keys, subscriptions=(FAST, SLOW))
    delivery_stats, erasure = RedisDeliveryStats(server, keys), RedisBusErasure(server, keys)
    bus.publish(*(ended(f"{'mine' if number % 3 else 'theirs'}", f"planted {number}") for number in range(1200)))
    taken = bus.receive(FAST, priority=Priority.LIVE, limit=600, lease=60)
    erasure.erase(erasure.find(ErasureTarget(scope=Scope(), session_id="mine")))
    stream = keys.stream("session_ended", Priority.LIVE)
    killed = keys.aside(stream, "of somebody who was killed")
    server.xadd(killed, {"event": "planted 1"})
    before: Any = (server.xrange(stream), server.xpending(stream, "fast"), delivery_stats.counters(FAST))

    assert erasure.purge() == 1

    assert (server.xrange(stream), server.xpending(stream, "fast"), delivery_stats.counters(FAST)) == before
    assert erasure.purge() == 0
    assert next(iter(delivery_stats.backlogs(FAST))).waiting == 200
    assert b'planted 1"' not in (server.dump(stream) or b"")
    assert not server.exists(killed)
    in_hand = next(each for each in taken if each.event.session_id == "theirs")
    assert bus.open(in_hand.ref)
    assert len(bus.receive(FAST, priority=Priority.LIVE, limit=1000, lease=60)) == 200


def held_for(client: redis.Redis) -> int:
    """Seconds."""
    return client.ttl(KEYS.rewriting(HOME))  # pyright: ignore[reportReturnType]


class Held(redis.Redis):
    """A client which tells how long the log is held whenever something of it is read or replaced.

    Each such step takes so long that hardly anything of that is left.
    """

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(connection_pool=client.connection_pool)
        self.held: list[int] = []

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 (as it is there)
        self.held.append(held_for(self))
        self.expire(KEYS.rewriting(HOME), 3)
        return super().pipeline(transaction, shard_hint)

    def register_script(self, script: Any) -> Any:
        self.held.append(held_for(self))
        return super().register_script(script)


class Repeating(redis.Redis):
    """A client that sends each script twice, as after a reply that was lost, and hears of the second alone."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(connection_pool=client.connection_pool)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if args[0] == "EVALSHA":
            super().execute_command(*args, **options)
        return super().execute_command(*args, **options)


def test_a_log_whose_swap_was_not_heard_of_has_taken_its_place(client: redis.Redis) -> None:
    store = WholeStore(client, prefix="t")
    rows = taught(store, 10)

    erased = RedisErasure(Repeating(client), KEYS).rewrite(HOME, without("mine"))

    assert erased.has_changed
    assert_theirs_alone_is_left(store, rows)


def test_a_log_is_held_for_a_short_time_which_begins_anew_with_each_step(client: redis.Redis) -> None:
    store, held_by = WholeStore(client, prefix="t"), Held(client)
    rows = [said(("mine", "theirs")[number % 2], f"fact {number}", embedded_by=None) for number in range(2200)]
    add(store, *rows)

    def slowly(rows: Sequence[Row]) -> Erased:
        held_by.held.append(held_for(client))
        client.expire(KEYS.rewriting(HOME), 3)
        return without_session(rows, "mine")

    RedisErasure(held_by, KEYS).rewrite(HOME, slowly)

    assert len(held_by.held) == 3
    assert all(15 < each <= 20 for each in held_by.held)
    assert not client.exists(KEYS.rewriting(HOME))


def test_a_log_that_was_made_anew_is_kept(client: redis.Redis) -> None:
    taught(WholeStore(client, prefix="t"), 2)

    RedisErasure(client, KEYS).rewrite(HOME, without("mine"))

    assert {client.ttl(key) for key in (KEYS.fact_head(HOME), KEYS.fact_rows(HOME))} == {-1}
