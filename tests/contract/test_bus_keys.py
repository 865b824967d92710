"""What the bus leaves under its keys: nothing for ever that grows with each event, and nothing too short."""

from typing import Any

import pytest
import redis

from nous.bus.base import Committed, Priority, Subscription
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.domain.effects import Effects
from nous.domain.events import FactsUnembedded, SessionEnded

TOY = Subscription("toy", SessionEnded)
STREAMS = {b"nous:events:session_ended", b"nous:events:facts_unembedded"}


@pytest.fixture
def bus(redis_client: redis.Redis, ended: Any) -> RedisBus:
    """A bus with two sessions, one of which is done and has led to something."""
    bus = RedisBus(redis_client, plan_of=lambda _: CommitPlan())
    bus.publish(ended("s1"), ended("s2"))
    [first] = bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)
    following = FactsUnembedded.after(first.event, by="toy", at=first.event.time)
    assert bus.commit(first, Effects(events=(following,))) == Committed()
    return bus


def kept(client: Any) -> set[bytes]:
    """The keys without a TTL."""
    return {key for key in client.scan_iter() if client.ttl(key) == -1}


def test_what_a_delivery_leaves_behind_goes_by_itself_but_for_streams_and_accounts(
    bus: RedisBus, redis_client: redis.Redis
) -> None:
    [second] = bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)
    assert bus.commit(second, Effects(skipped="too short")) == Committed()

    assert kept(redis_client) == STREAMS | {b"nous:account:toy"}


def test_what_is_not_done_yet_does_not_go_by_itself(bus: RedisBus, redis_client: redis.Redis) -> None:
    bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)

    ours = {b"nous:account:toy", b"nous:leases:toy", b"nous:progress:toy"}
    assert kept(redis_client) == STREAMS | ours


def test_a_long_backlog_is_received_whole(bus: RedisBus, ended: Any) -> None:
    bus.publish(*(ended(f"long-{number}") for number in range(200)))

    assert len(bus.receive(TOY, priority=Priority.LIVE, limit=1000, lease=60)) == 201
