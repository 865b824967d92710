"""The bus with its books, its letters and its housekeeping, on a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from builders import servers
from nous.bus.accounting import GroupCounters
from nous.bus.base import Bus, Priority, PublishReceipt, Subscription
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan, Precondition
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import RedisTrimming
from nous.domain.effects import Write
from nous.domain.events import Event, SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LEASE = 60.0
_REFUSED = CommitPlan(preconditions=(Precondition("GET", "t:changed", (), "no"),))


class WholeBus(RedisBus, RedisDeliveryStats, RedisDeadLetterQueue, RedisTrimming):
    """Every part of the bus in one, on a fake server unless *client* is of another."""

    def __init__(
        self,
        client: redis.Redis | None = None,
        *,
        plan_of: Callable[[Write], CommitPlan] = lambda _: CommitPlan(),
        **more: Any,
    ) -> None:
        super().__init__(client or servers.fake(), plan_of=plan_of, **more)

    def append(self, type_: str, raw: bytes, *, entry: str = "*", priority: Priority = Priority.LIVE) -> str:
        """Append *raw* like a foreign producer, without an idempotency key; return the entry id."""
        return self._client.xadd(self._keys.stream(type_, priority), {"event": raw}, id=entry).decode()


@dataclass
class BusWorld:
    """A bus that refuses all effects that write, its books, and the clock it lives by."""

    bus: Bus
    delivery_stats: RedisDeliveryStats
    dead: RedisDeadLetterQueue
    trimming: RedisTrimming
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


def on_redis(client: redis.Redis, clock: Any) -> BusWorld:
    bus = WholeBus(client, plan_of=lambda _: _REFUSED, keys=BusKeys("t"), clock=clock)
    return BusWorld(bus, bus, bus, bus, clock, partial(bus.append, "session_ended"))
