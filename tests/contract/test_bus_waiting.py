"""Who waits for an event is woken by one, of whatever size that is."""

import tracemalloc
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
import redis
from builders.waiting import wait_until

from nous.bus.base import Priority, Subscription
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.domain.event_codec import LARGEST
from nous.domain.events import SessionEnded

READER = Subscription("reader", SessionEnded)
STREAM = "nous:events:session_ended"
LONG = 60.0
"""Seconds that nobody waits who is woken."""

_MADE_THERE = "return redis.call('XADD', KEYS[1], '*', 'event', string.rep('x', ARGV[1]))"


@pytest.fixture
def bus(redis_client: redis.Redis) -> RedisBus:
    bus = RedisBus(redis_client, plan_of=lambda _: CommitPlan())
    bus.receive(READER, priority=Priority.LIVE, limit=1, lease=60)
    return bus


def is_woken(bus: RedisBus, client: Any, done: Callable[[], object]) -> bool:
    """Whether somebody who waits does so no more after something was done."""
    how: dict[str, Any] = {"priorities": tuple(Priority), "seconds": LONG}
    waiting = Thread(target=bus.wait, args=(READER,), kwargs=how, daemon=True)
    waiting.start()
    wait_until(lambda: client.info("clients")["blocked_clients"] == 1, "somebody to wait")
    done()
    waiting.join(LONG / 2)
    return not waiting.is_alive()


@pytest.mark.parametrize("priority", Priority)
def test_who_waits_is_woken_by_an_event_of_either_lane(
    bus: RedisBus, redis_client: redis.Redis, ended: Any, priority: Priority
) -> None:
    assert is_woken(bus, redis_client, lambda: bus.publish(ended(), priority=priority))

    assert len(bus.receive(READER, priority=priority, limit=9, lease=60)) == 1


def test_what_is_larger_than_an_event_wakes_who_waits_and_is_not_read(bus: RedisBus, redis_client: redis.Redis) -> None:
    run: Any = redis_client.eval
    tracemalloc.start()
    try:
        assert is_woken(bus, redis_client, lambda: run(_MADE_THERE, 1, STREAM, 4 * LARGEST))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < LARGEST / 4
    assert bus.receive(READER, priority=Priority.LIVE, limit=9, lease=60) == []
    entries: Any = redis_client.xrange("nous:dead")
    assert len(entries) == 1
