"""Every bus, with its books, its letters and its housekeeping, on a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from nous.bus.accounting import DeadLetterQueue, DeliveryStats, GroupCounters, Trimming
from nous.bus.base import Bus, Priority, PublishReceipt, Subscription
from nous.bus.memory.bus import MemoryBus
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan, Precondition
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import RedisTrimming
from nous.domain.events import Event, SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LEASE = 60.0
_REFUSED = CommitPlan(preconditions=(Precondition("GET", "t:changed", (), "no"),))


@dataclass
class BusWorld:
    """A bus that refuses all effects that write, its books, and the clock it lives by."""

    bus: Bus
    delivery_stats: DeliveryStats
    dead: DeadLetterQueue
    trimming: Trimming
    clock: Any
    foreign_append: Callable[..., str]

    def receive(
        self, limit: int = 10, subscription: Subscription = SUMMARIZER, priority: Priority = Priority.LIVE
    ) -> list[Any]:
        return list(self.bus.receive(subscription, priority=priority, limit=limit, lease=LEASE))

    def publish(self, *events: Event) -> list[PublishReceipt]:
        return list(self.bus.publish(*events))

    @property
    def account(self) -> GroupCounters:
        return self.delivery_stats.counters(SUMMARIZER)


def in_memory(clock: Any) -> BusWorld:
    bus = MemoryBus(lambda writes: "it has changed" if writes else None, clock=clock)
    return BusWorld(bus, bus, bus, bus, clock, partial(bus.append, "session_ended"))


def on_redis(client: redis.Redis, clock: Any) -> BusWorld:
    keys = BusKeys("t")
    bus = RedisBus(client, plan_of=lambda _: _REFUSED, keys=keys, clock=clock)

    def append(raw: bytes, entry: str = "*", priority: Priority = Priority.LIVE) -> str:
        name: Any = client.xadd(keys.stream("session_ended", priority), {"event": raw}, id=entry)
        return name.decode()

    delivery_stats, dead = RedisDeliveryStats(client, keys), RedisDeadLetterQueue(client, keys, clock=clock)
    return BusWorld(bus, delivery_stats, dead, RedisTrimming(client, keys, clock=clock), clock, append)
