"""Somebody writes into the keys of the bus what nobody can read: it stands in nobody's way."""

from typing import Any

import pytest
import redis

from nous.bus.base import Committed, Priority, Subscription
from nous.bus.delivery_state import DeliveryState, DeliveryStatus, RetryPolicy
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.errors import Fatal
from nous.domain.events import SessionEnded
from nous.jobs.base import MemoryJobs
from nous.runtime.sweeper import Sweeper

GROUP = "episode-summarizer"
SUMMARIZER = Subscription(GROUP, SessionEnded)
LEASES, PROGRESS = f"t:leases:{GROUP}", f"t:progress:{GROUP}"
LEASE = 60.0
STRANGE = (b"garbage", b"zork/1-1", b"live/x-y", b"live/", b"\xff/\xff", b"live/10000000000000000000000000-0")
UNREADABLE = (b"garbage", b"", b"[]", b'"live"', b"{}", b'{"state":"dreaming"}', b'{"state":["waiting"]}', b"\xff")


class Shop:
    """A bus on a server on which somebody else writes, too."""

    def __init__(self, client: Any, clock: Any) -> None:
        keys = BusKeys("t")
        self.client, self.clock, self.jobs = client, clock, MemoryJobs()
        self.bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=keys, clock=clock)
        self.delivery_stats, self.dead = (
            RedisDeliveryStats(client, keys),
            RedisDeadLetterQueue(client, keys, clock=clock),
        )
        self.sweeper = Sweeper(
            SUMMARIZER, bus=self.bus, jobs=self.jobs, retry_policy=RetryPolicy(lease=LEASE), ahead=99
        )

    def receive(self) -> list[Any]:
        return list(self.bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=100, lease=LEASE))

    def swept_later(self) -> int:
        self.clock.now += LEASE + 1
        return self.sweeper.sweep()


@pytest.fixture
def shop(client: redis.Redis, clock: Any) -> Shop:
    return Shop(client, clock)


def test_a_lease_of_no_delivery_keeps_no_other_from_being_tried_again(shop: Shop, ended: Any) -> None:
    shop.bus.publish(ended("innocent"))
    [delivery] = shop.receive()
    shop.client.zadd(LEASES, dict.fromkeys(STRANGE, 1) | {f"garbage {number}": 2 for number in range(300)})

    swept = [shop.swept_later(), shop.swept_later()]

    assert sum(swept) >= 1
    assert shop.client.zrange(LEASES, 0, -1) == [delivery.ref.name.encode()]
    assert shop.delivery_stats.counters(SUMMARIZER).why == ""


@pytest.mark.parametrize("words", UNREADABLE)
def test_a_delivery_whose_progress_cannot_be_read_is_tried_again_and_committed(
    shop: Shop, ended: Any, words: bytes
) -> None:
    shop.bus.publish(ended("victim"), ended("innocent"))
    victim, innocent = shop.receive()
    shop.client.hset(PROGRESS, victim.ref.name, words)

    assert shop.swept_later() == 2
    attempt = 2
    for delivery in (victim, innocent):
        begun = shop.bus.begin(delivery.ref, attempt=attempt, lease=LEASE)
        assert begun
        assert isinstance(shop.bus.commit(begun, Effects()), Committed)
    account = shop.delivery_stats.counters(SUMMARIZER)
    assert (account.received, account.done, account.discrepancy) == (2, 2, 0)
    assert shop.dead.count() == 0


def test_of_progress_of_a_state_that_is_not_known_the_number_of_the_attempt_is_left() -> None:
    told = DeliveryState.decode(b'{"attempt":7,"state":"dreaming","errors":3}')

    assert (told.attempt, told.state) == (7, DeliveryStatus.WAITING)


@pytest.mark.parametrize("words", UNREADABLE)
def test_progress_that_cannot_be_read_still_tells_where_its_event_is(shop: Shop, ended: Any, words: bytes) -> None:
    [receipt] = shop.bus.publish(ended("victim"))
    [delivery] = shop.receive()
    shop.client.hset(PROGRESS, delivery.ref.name, words)

    assert shop.delivery_stats.locate(receipt.event_id, SUMMARIZER).where == "in flight"


@pytest.mark.parametrize("kind", ["hash", "list", "abc", "nan", "-inf"])
def test_a_longest_lease_that_is_none_keeps_nothing_from_being_tried_again(shop: Shop, ended: Any, kind: str) -> None:
    key = f"t:longest-lease:{GROUP}"
    shop.bus.publish(ended("innocent"))
    shop.receive()
    match kind:
        case "hash":
            shop.client.hset(key, "a", "b")
        case "list":
            shop.client.lpush(key, "a")
        case _:
            shop.client.set(key, kind)

    assert shop.swept_later() == 1
    assert float(shop.client.get(key)) == LEASE


def test_progress_that_a_later_release_wrote_before_it_was_taken_back_is_gone_on_with(shop: Shop, ended: Any) -> None:
    shop.bus.publish(ended("innocent"))
    [delivery] = shop.receive()
    added = DeliveryState(errors=2).encode().removesuffix(b"}") + b',"mood":"good"}'
    shop.client.hset(PROGRESS, delivery.ref.name, added)

    assert shop.swept_later() == 1

    begun = shop.bus.begin(delivery.ref, attempt=2, lease=LEASE)
    assert begun
    assert begun.state.errors == 2


@pytest.mark.parametrize("spoilt", ["hash", "words"])
def test_an_event_is_over_although_somebody_has_spoilt_the_account(shop: Shop, ended: Any, spoilt: str) -> None:
    shop.bus.publish(ended("innocent"))
    [delivery] = shop.receive()
    account = f"t:account:{GROUP}"
    if spoilt == "words":
        shop.client.set(account, "abc")
    else:
        shop.client.hset(account, "done", "abc")

    assert isinstance(shop.bus.commit(delivery, Effects()), Committed)
    assert shop.bus.open(delivery.ref) is None
    assert shop.swept_later() == 0
    assert shop.receive() == []


def test_leases_of_one_group_that_somebody_has_spoilt_cost_no_other_group_its_own(shop: Shop, ended: Any) -> None:
    other = Subscription("another", SessionEnded)
    shop.bus.publish(ended("innocent"))
    [spoilt] = shop.receive()
    [whole] = shop.bus.receive(other, priority=Priority.LIVE, limit=1, lease=LEASE)
    shop.client.delete(LEASES)
    shop.client.set(LEASES, "abc")

    with pytest.raises(Fatal, match="WRONGTYPE"):
        shop.bus.renew([spoilt.ref, whole.ref], lease=10 * LEASE)

    shop.clock.now += LEASE + 1
    assert shop.bus.overdue(other, limit=10) == []
