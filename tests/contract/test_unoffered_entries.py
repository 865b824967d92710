"""Entries that came to a group past `receive`, or with whose reader it was over too early to see what they tell."""

from collections.abc import Sequence
from typing import Any

import pytest
import redis
from builders import buses
from builders.buses import LEASE, SUMMARIZER
from builders.jobs import FakeJobs
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.bus.accounting import GroupCounters
from nous.bus.base import REPEATED, DeadLetterKind, Delivery, Priority
from nous.bus.delivery_state import RetryPolicy
from nous.bus.erasure import FORGOTTEN, Tombstone, name_of
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.domain.errors import Unavailable
from nous.domain.event_codec import encode
from nous.domain.events import SessionEnded
from nous.runtime.worker_process import Sweeper

KEYS = BusKeys("t")
STREAM = KEYS.stream(SessionEnded.type, Priority.LIVE)


class Dying(RedisBus):
    """A bus whose process is gone as soon as it has read."""

    @override
    def _first_publications(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        raise Unavailable("a test")


class Losing(RedisBus):
    """A bus whose server loses what it has taken, once that was read."""

    @override
    def _first_publications(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        for each in deliveries:
            self._client.xack(STREAM, SUMMARIZER.group, each.ref.entry)
            self._client.xdel(STREAM, each.ref.entry)
            self._client.delete(KEYS.marker(each.event.id))
        return super()._first_publications(deliveries)


class Street:
    """A bus into whose streams others write, from which others read, and its sweeper."""

    def __init__(self, client: Any, clock: Any) -> None:
        self.client = client
        self.world = buses.on_redis(client, clock)
        retry_policy = RetryPolicy(lease=LEASE)
        self.sweeper = Sweeper(SUMMARIZER, bus=self.world.bus, jobs=FakeJobs(), retry_policy=retry_policy, ahead=4)
        self.sweeper.sweep()

    def run(self, kind: type[RedisBus]) -> RedisBus:
        return kind(self.client, plan_of=lambda _: CommitPlan(), keys=KEYS, clock=self.world.clock)

    def write(self, *events: SessionEnded) -> None:
        for event in events:
            self.client.xadd(STREAM, {"event": encode(event)})

    def forget(self, event: SessionEnded) -> None:
        tombstone = Tombstone(at=event.time, is_done=True)
        RedisTombstones(self.client, KEYS).put(event.scope, [name_of(event)], tombstone)

    def read(self) -> None:
        """Have all that is there read by a process of ours that dies of it."""
        with pytest.raises(Unavailable):
            self.run(Dying).receive(SUMMARIZER, priority=Priority.LIVE, limit=10, lease=LEASE)

    def later(self) -> int:
        self.world.clock.now += LEASE + 1
        return self.sweeper.sweep()


@pytest.fixture
def street(client: redis.Redis, clock: Any) -> Street:
    return Street(client, clock)


def test_what_is_told_twice_or_of_a_forgotten_session_is_skipped(street: Street, ended: Any) -> None:
    street.forget(ended("secret"))
    street.write(ended("secret"), ended("another"), ended("another"))

    street.read()

    assert street.later() == 1
    assert street.world.account == GroupCounters(received=3, skipped={FORGOTTEN: 1, REPEATED: 1}, in_flight=1)


def test_what_is_redriven_of_a_forgotten_session_does_not_bring_it_back(street: Street, ended: Any) -> None:
    street.write(ended())
    [delivery] = street.world.receive()
    street.world.bus.dead_letter(delivery.ref, progress=None, reason="of a later release", grave=DeadLetterKind.PARKED)
    street.forget(ended())
    [letter] = street.world.dead.letters()

    assert street.world.dead.redrive(letter, SUMMARIZER)

    assert street.later() == 0
    assert street.world.account == GroupCounters(received=1, skipped={FORGOTTEN: 1})


def test_a_session_that_is_let_back_before_it_is_tried_again_is_let_back(street: Street, ended: Any) -> None:
    street.forget(ended())
    street.write(ended())
    street.read()
    RedisTombstones(street.client, KEYS).lift(ended().scope, name_of(ended()))

    assert street.later() == 1


def test_what_the_server_lost_leaves_no_marker_and_can_be_said_again(street: Street, ended: Any) -> None:
    losing = street.run(Losing)
    losing.publish(ended())

    assert list(losing.receive(SUMMARIZER, priority=Priority.LIVE, limit=10, lease=LEASE)) == []

    assert [receipt.fresh for receipt in losing.publish(ended())] == [True]
