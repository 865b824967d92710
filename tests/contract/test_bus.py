"""Contract of a bus: publishing, receiving and committing, for every implementation."""

from typing import Any

import pytest
import redis
from builders.buses import LEASE, SUMMARIZER
from builders.keyspace import keys_with

from nous.bus.base import Committed, Duplicate, Priority, Subscription
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded
from nous.redaction.redactor import Redaction, Redactor

AUDITOR = Subscription("auditor", SessionEnded)


def test_the_same_event_published_thrice_is_one_event(world: Any, ended: Any) -> None:
    receipts = [world.publish(ended())[0] for _ in range(3)]

    assert [receipt.fresh for receipt in receipts] == [True, False, False]
    assert len({receipt.entry for receipt in receipts}) == 1
    assert {receipt.session_id for receipt in receipts} == {ended().session_id}
    assert len(world.receive()) == 1


def test_a_group_created_late_still_gets_the_past(world: Any, ended: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    world.receive()

    late = world.receive(subscription=AUDITOR)

    assert [delivery.event.session_id for delivery in late] == ["s1", "s2"]


def test_an_event_is_offered_to_a_group_once_and_oldest_first(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{i}") for i in range(5)))

    offered = [delivery.event.session_id for _ in range(4) for delivery in world.receive(limit=2)]

    assert offered == ["s0", "s1", "s2", "s3", "s4"]


def test_bulk_work_travels_in_a_lane_of_its_own(world: Any, ended: Any) -> None:
    world.bus.publish(ended("past"), priority=Priority.BULK)
    world.bus.publish(ended("now"))

    assert [d.event.session_id for d in world.receive()] == ["now"]
    assert [d.event.session_id for d in world.receive(priority=Priority.BULK)] == ["past"]


def test_a_commit_publishes_what_follows_and_is_done(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    follow_up = ended("follow-up")

    verdict = world.bus.commit(delivery, Effects(events=(follow_up,)))

    assert verdict == Committed()
    assert [d.event for d in world.receive()] == [follow_up]
    assert world.account.done == 1
    assert world.bus.open(delivery.ref) is None


def test_a_second_commit_of_a_delivery_writes_nothing(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    verdict = world.bus.commit(delivery, Effects(events=(ended("twice"),)))

    assert verdict == Duplicate()
    assert world.receive() == []
    assert world.account.done == 1


def test_an_event_that_two_attempts_emit_is_emitted_once(world: Any, ended: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    follow_up = ended("follow-up")

    for delivery in world.receive():
        world.bus.commit(delivery, Effects(events=(follow_up,)))

    assert len(world.receive()) == 1
    assert world.account.received == 3  # nor was it a second time in the stream, and skipped when it was received


def test_a_skipped_event_is_counted_under_its_reason(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.commit(delivery, Effects(skipped="too short"))

    assert world.account.skipped == {"too short": 1}
    assert world.account.discrepancy == 0


def test_effects_without_a_delivery_are_applied(world: Any, ended: Any) -> None:
    assert world.bus.apply(Effects(events=(ended("learned by hand"),))) == Committed()
    assert len(world.receive()) == 1


TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105


@pytest.fixture
def bus(redis_client: redis.Redis, clock: Any) -> RedisBus:
    gate = Redaction(Redactor()).record
    return RedisBus(redis_client, plan_of=lambda _: CommitPlan(), keys=BusKeys("t"), clock=clock, gate=gate)


def test_no_secret_of_a_published_event_is_written(bus: RedisBus, redis_client: redis.Redis, ended: Any) -> None:
    bus.publish(ended(text=f"User: use {TOKEN}"))

    assert keys_with(redis_client, "[secret:github-pat]")
    assert keys_with(redis_client, TOKEN) == {}


def test_no_secret_of_what_follows_from_an_event_is_written(
    bus: RedisBus, redis_client: redis.Redis, ended: Any
) -> None:
    bus.publish(ended())
    [delivery] = bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=1, lease=LEASE)

    bus.commit(delivery, Effects(events=(ended("next", text=f"User: use {TOKEN}"),)))

    assert keys_with(redis_client, "[secret:github-pat]")
    assert keys_with(redis_client, TOKEN) == {}
