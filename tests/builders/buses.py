"""Every bus, with its books, its letters and its housekeeping, on a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from nous.bus.accounting import Account, DeadLetters, Ledger, Trimming
from nous.bus.base import Bus, Lane, Receipt, Subscription
from nous.bus.memory.bus import MemoryBus
from nous.bus.redis.accounting import RedisLedger
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import Check, Plan
from nous.bus.redis.dead_letters import RedisDeadLetters
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.trimming import RedisTrimming
from nous.domain.events import Event, SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LEASE = 60.0
_REFUSED = Plan(checks=(Check("GET", "t:changed", (), "no"),))


@dataclass
class BusWorld:
    """A bus that refuses all effects that write, its books, and the clock it lives by."""

    bus: Bus
    ledger: Ledger
    dead: DeadLetters
    trimming: Trimming
    clock: Any
    foreign_append: Callable[..., str]

    def receive(self, limit: int = 10, subscription: Subscription = SUMMARIZER, lane: Lane = Lane.LIVE) -> list[Any]:
        return list(self.bus.receive(subscription, lane=lane, limit=limit, lease=LEASE))

    def publish(self, *events: Event) -> list[Receipt]:
        return list(self.bus.publish(*events))

    @property
    def account(self) -> Account:
        return self.ledger.account(SUMMARIZER)


def in_memory(clock: Any) -> BusWorld:
    bus = MemoryBus(lambda writes: "it has changed" if writes else None, clock=clock)
    return BusWorld(bus, bus, bus, bus, clock, partial(bus.append, "session_ended"))


def on_redis(client: redis.Redis, clock: Any) -> BusWorld:
    keys = BusKeys("t")
    bus = RedisBus(client, plan_of=lambda _: _REFUSED, keys=keys, clock=clock)

    def append(raw: bytes, entry: str = "*", lane: Lane = Lane.LIVE) -> str:
        name: Any = client.xadd(keys.stream("session_ended", lane), {"event": raw}, id=entry)
        return name.decode()

    ledger, dead = RedisLedger(client, keys), RedisDeadLetters(client, keys, clock=clock)
    return BusWorld(bus, ledger, dead, RedisTrimming(client, keys, clock=clock), clock, append)
