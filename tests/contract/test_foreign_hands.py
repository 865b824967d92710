"""Somebody works on the keys of the bus with commands of his own: the accounts say so, and nothing is lost unseen."""

from typing import Any

import pytest
import redis

from nous.bus.accounting import GroupCounters
from nous.bus.base import Committed, Duplicate, Priority, Subscription
from nous.bus.delivery_state import DeliveryState, RetryPolicy
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLettering, RedisDeadLetterQueue
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.errors import Misconfigured, Unavailable
from nous.domain.events import SessionEnded
from nous.jobs.base import MemoryJobs
from nous.redis_support.errors import GroupGone
from nous.runtime.sweeper import Sweeper
from nous.store.keys import StoreKeys
from nous.store.redis.episodes import RedisEpisodes

GROUP = "episode-summarizer"
SUMMARIZER = Subscription(GROUP, SessionEnded)
STREAM, PROGRESS = "t:events:session_ended", "t:progress:episode-summarizer"
LEASE = 60.0


class Shop:
    """A bus on a server on which others work, too."""

    def __init__(self, client: Any, clock: Any, prefix: str = "t") -> None:
        keys = BusKeys(prefix)
        self.client, self.clock = client, clock
        self.bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=keys, clock=clock)
        self.delivery_stats = RedisDeliveryStats(client, keys)
        self.dead = RedisDeadLetterQueue(client, keys, clock=clock)
        self.sweeper = Sweeper(
            SUMMARIZER, bus=self.bus, jobs=MemoryJobs(), retry_policy=RetryPolicy(lease=LEASE), ahead=4
        )

    def receive(self) -> list[Any]:
        return list(self.bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=100, lease=LEASE))

    def later(self) -> None:
        self.clock.now += LEASE + 1
        self.sweeper.sweep()

    @property
    def account(self) -> GroupCounters:
        return self.delivery_stats.counters(SUMMARIZER)

    @property
    def reasons(self) -> list[str]:
        return [letter.reason for letter in self.dead.letters()]


@pytest.fixture
def shop(client: redis.Redis, clock: Any, ended: Any) -> Shop:
    """A bus with three sessions."""
    shop = Shop(client, clock)
    shop.bus.publish(*(ended(f"s{number}") for number in range(3)))
    return shop


def assert_set_aside(shop: Shop, taken: int) -> None:
    """Hold the account of three deliveries, of which so many were taken from us, to what has to become of them."""
    assert (shop.account.orphans, shop.account.discrepancy) == (taken, taken)
    assert shop.account.why.startswith(f"{taken} were taken out of the pending list")
    shop.later()
    assert (shop.account.dead, shop.account.discrepancy, shop.account.why) == (taken, 0, "")
    assert all("somebody else acknowledged it" in reason for reason in shop.reasons)
    for letter in shop.dead.letters():
        assert letter.session_id
        assert shop.dead.redrive(letter, SUMMARIZER)
    assert (shop.account.dead, shop.account.in_flight, shop.account.discrepancy) == (0, 3, 0)


def test_what_somebody_else_acknowledges_is_set_aside_and_can_be_redriven(shop: Shop) -> None:
    first, *_ = shop.receive()

    shop.client.xack(STREAM, GROUP, first.ref.entry)

    assert shop.bus.commit(first, Effects()) == Duplicate()
    assert_set_aside(shop, 1)


def test_what_somebody_else_acknowledged_is_not_begun(shop: Shop) -> None:
    first, *_ = shop.receive()

    shop.client.xack(STREAM, GROUP, first.ref.entry)

    assert shop.bus.open(first.ref) is None
    assert shop.bus.begin(first.ref, attempt=first.state.attempt, lease=LEASE) is None


def test_what_is_pending_of_a_consumer_that_is_deleted_is_set_aside(shop: Shop) -> None:
    shop.receive()

    shop.client.xgroup_delconsumer(STREAM, GROUP, "nous")

    assert_set_aside(shop, 3)


def test_a_group_that_is_destroyed_is_offered_all_again_and_counts_nothing_twice(shop: Shop) -> None:
    done, *_ = shop.receive()
    shop.bus.commit(done, Effects())

    shop.client.xgroup_destroy(STREAM, GROUP)
    with pytest.raises(GroupGone):
        shop.receive()
    shop.bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=1, lease=LEASE)
    shop.later()

    again = shop.receive()
    assert len(again) == 2
    assert (shop.account.received, shop.account.done, shop.account.in_flight, shop.account.discrepancy) == (4, 1, 3, 0)
    assert shop.reasons == []


@pytest.mark.parametrize("key", ["t:leases:episode-summarizer", "t:progress:episode-summarizer"])
def test_deliveries_whose_leases_or_progress_are_deleted_are_tried_again(shop: Shop, key: str) -> None:
    shop.receive()

    shop.client.delete(key)
    shop.later()
    shop.later()

    tried = [progress.attempt for _, progress in _overdue(shop)]
    assert len(tried) == 3
    assert min(tried) >= 2
    assert (shop.account.received, shop.account.in_flight, shop.account.discrepancy) == (3, 3, 0)


def test_what_somebody_else_receives_is_no_false_alarm_and_is_taken_over(shop: Shop) -> None:
    shop.receive()
    shop.client.xadd(STREAM, {"event": b'{"data":{"session_id":"s9","transcript":"User: hi"}}'})

    shop.client.xreadgroup(GROUP, "stranger", {STREAM: ">"}, count=10)

    assert (shop.account.foreign, shop.account.in_flight, shop.account.discrepancy) == (1, 4, 0)
    shop.sweeper.sweep()
    assert (shop.account.received, shop.account.foreign, shop.account.discrepancy) == (4, 0, 0)


def test_of_much_that_somebody_else_receives_all_is_taken_over(shop: Shop, ended: Any) -> None:
    shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE)
    shop.bus.publish(*(ended(f"more-{number}") for number in range(247)))
    shop.client.xreadgroup(GROUP, "stranger", {STREAM: ">"}, count=1000)

    taken = [shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE) for _ in range(3)]

    assert sum(taken) == 250
    assert (shop.account.received, shop.account.in_flight, shop.account.discrepancy) == (250, 250, 0)


@pytest.mark.parametrize("is_ours", [True, False])
def test_an_entry_that_is_deleted_while_it_is_pending_is_dead_with_a_letter(
    redis_client: redis.Redis, clock: Any, ended: Any, *, is_ours: bool
) -> None:
    shop = Shop(redis_client, clock)  # fakeredis does not tell XAUTOCLAIM what was deleted
    shop.bus.publish(ended("s1"), ended("s2"))
    if is_ours:
        shop.receive()
    else:
        shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE)
        shop.client.xreadgroup(GROUP, "stranger", {STREAM: ">"}, count=10)

    shop.client.xtrim(STREAM, maxlen=1, approximate=False)
    shop.sweeper.sweep()

    assert (shop.account.dead, shop.account.in_flight, shop.account.received, shop.account.discrepancy) == (1, 1, 2, 0)
    assert shop.reasons == ["its entry was deleted from the stream while it was pending"]


def test_whoever_finds_what_was_deleted_and_dies_leaves_it_to_the_next(
    redis_client: redis.Redis, clock: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise Unavailable("a test")

    shop = Shop(redis_client, clock)
    shop.bus.publish(ended("s1"), ended("s2"))
    shop.receive()
    shop.client.xtrim(STREAM, maxlen=1, approximate=False)
    with monkeypatch.context() as patch:
        patch.setattr(RedisDeadLettering, "dead_letter_foreign_ack", die)
        with pytest.raises(Unavailable):
            shop.sweeper.sweep()

    shop.sweeper.sweep()

    assert (shop.account.dead, shop.account.in_flight, shop.account.discrepancy) == (1, 1, 0)
    assert len(shop.reasons) == 1


def test_a_stream_that_is_deleted_takes_what_was_pending_to_the_dead_letters(
    redis_client: redis.Redis, clock: Any, ended: Any
) -> None:
    shop = Shop(redis_client, clock)  # fakeredis calls a stream that is gone by another error
    shop.bus.publish(*(ended(f"s{number}") for number in range(3)))
    shop.receive()

    shop.client.delete(STREAM)
    with pytest.raises(GroupGone):
        shop.receive()
    shop.receive()
    shop.later()

    assert (shop.account.dead, shop.account.in_flight, shop.account.discrepancy) == (3, 0, 0)


def test_counters_that_are_deleted_are_told_of(shop: Shop) -> None:
    shop.receive()

    shop.client.delete("t:account:episode-summarizer")

    assert shop.account.discrepancy == -3
    assert "deleted or set back" in shop.account.why


def test_what_is_pending_or_over_is_not_taken_for_taken(shop: Shop) -> None:
    first, second, _ = shop.receive()
    shop.bus.commit(first, Effects())

    assert [shop.bus.dead_letter_foreign_ack(each.ref) for each in (first, second)] == [False, False]

    assert (shop.account.done, shop.account.dead, shop.account.discrepancy) == (1, 0, 0)


def test_what_was_taken_from_us_is_not_put_off_any_more(shop: Shop) -> None:
    first, *_ = shop.receive()
    shop.client.xack(STREAM, GROUP, first.ref.entry)

    failed = first.state.failed("the model was busy")

    assert not shop.bus.compare_and_set_state(first.ref, before=first.state, after=failed, lease=10 * LEASE)
    assert_set_aside(shop, 1)


@pytest.mark.parametrize("raw", [b"garbage", b'{"state":"dreaming"}', b'{"errors":"many"}'])
def test_a_delivery_whose_progress_cannot_be_read_is_tried_again_and_committed(shop: Shop, raw: bytes) -> None:
    first, *_ = shop.receive()
    shop.client.hset(PROGRESS, first.ref.name, raw)

    shop.later()

    begun = shop.bus.begin(first.ref, attempt=2, lease=LEASE)
    assert begun
    assert shop.bus.commit(begun, Effects()) == Committed()
    assert (shop.account.done, shop.account.discrepancy, shop.reasons) == (1, 0, [])


def test_progress_that_a_later_release_wrote_before_it_was_taken_back_is_gone_on_with(shop: Shop) -> None:
    first, *_ = shop.receive()
    added = DeliveryState(errors=2).encode().removesuffix(b"}") + b',"mood":"good"}'
    shop.client.hset(PROGRESS, first.ref.name, added)

    shop.later()

    begun = shop.bus.begin(first.ref, attempt=2, lease=LEASE)
    assert begun
    assert begun.state.errors == 2


def test_an_event_is_over_although_somebody_has_spoilt_the_account(shop: Shop) -> None:
    first, *_ = shop.receive()
    shop.client.hset("t:account:episode-summarizer", "done", "abc")

    assert shop.bus.commit(first, Effects()) == Committed()

    assert shop.bus.open(first.ref) is None
    assert (shop.account.done, shop.account.discrepancy) == (0, 1)


def test_what_somebody_writes_into_our_lists_is_refused_by_its_name(shop: Shop) -> None:
    store = RedisEpisodes(shop.client, StoreKeys("t"))
    shop.client.zadd("t:leases:episode-summarizer", {"garbage": 1})
    shop.client.hset("t:unrefined", "garbage", "")
    letter = shop.client.xadd("t:dead", {"reason": "why"})

    with pytest.raises(Misconfigured, match="'garbage' into a key of group 'episode-summarizer'"):
        shop.bus.overdue(SUMMARIZER, limit=10)
    with pytest.raises(Misconfigured, match="b'garbage' into an index of the store"):
        list(store.unrefined())
    with pytest.raises(Misconfigured, match=rf"entry {letter.decode()} in the stream of dead letters is none"):
        shop.dead.letters()


def _overdue(shop: Shop) -> list[tuple[Any, DeliveryState]]:
    shop.clock.now += LEASE + 1
    return list(shop.bus.overdue(SUMMARIZER, limit=10))
