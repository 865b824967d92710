"""Contract of a bus: leases, delivery state and expiry of keys, for every implementation."""

from collections.abc import Sequence
from typing import Any

import pytest
import redis
from builders import buses
from builders.buses import LEASE, SUMMARIZER
from builders.jobs import FakeJobs
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.bus.accounting import GroupCounters
from nous.bus.base import REPEATED, Committed, DeadLetterKind, Delivery, Priority, Subscription
from nous.bus.delivery_state import DeliveryState, DeliveryStatus, RetryPolicy
from nous.bus.erasure import FORGOTTEN, Tombstone, name_of
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.errors import Unavailable
from nous.domain.event_codec import encode
from nous.domain.events import FactsUnembedded, SessionEnded
from nous.runtime.worker_process import Dispatcher

HOUR = 3600.0


def test_a_delivery_is_overdue_only_once_its_lease_has_ended(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += LEASE + 1

    assert world.bus.overdue(SUMMARIZER, limit=10) == [(delivery.ref, DeliveryState())]


def test_a_renewed_lease_ends_later_and_never_earlier(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.renew([delivery.ref], lease=10 * LEASE)
    world.bus.renew([delivery.ref], lease=1)
    world.clock.now += 2 * LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_renewing_does_not_bring_back_what_was_committed(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    world.bus.renew([delivery.ref], lease=1)
    world.clock.now += LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_of_two_that_amend_the_same_progress_one_succeeds(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    before, after = delivery.state, delivery.state.begun()

    won = [world.bus.compare_and_set_state(delivery.ref, before=before, after=after, lease=LEASE) for _ in range(2)]

    assert won == [True, False]
    reopened = world.bus.open(delivery.ref)
    assert reopened is not None
    assert reopened.state.state is DeliveryStatus.RUNNING


def test_what_is_put_off_is_not_overdue_before_its_time(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    failed = delivery.state.failed("the model was busy")

    world.bus.compare_and_set_state(delivery.ref, before=delivery.state, after=failed, lease=3 * LEASE)

    world.clock.now += 2 * LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += 2 * LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == [(delivery.ref, failed)]


@pytest.mark.parametrize("reason", ["", "the model was busy"], ids=["first attempt", "after an error"])
def test_an_attempt_that_was_offered_begins_once_and_holds_its_lease(world: Any, ended: Any, reason: str) -> None:
    event = ended()
    world.publish(event)
    [received] = world.receive()
    offered = DeliveryState(errors=len(reason), reason=reason)
    world.bus.compare_and_set_state(received.ref, before=received.state, after=offered, lease=0)

    first, second = (world.bus.begin(received.ref, attempt=1, lease=LEASE) for _ in range(2))

    assert second is None
    assert first == Delivery(received.ref, event, offered.begun(first.state.by))
    world.clock.now += LEASE / 2
    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == [(received.ref, first.state)]


def test_an_attempt_whose_turn_is_over_does_not_begin(world: Any, ended: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    waiting, committed = world.receive()
    world.bus.compare_and_set_state(waiting.ref, before=waiting.state, after=waiting.state.failed("oops"), lease=LEASE)
    world.bus.commit(committed, Effects())

    assert world.bus.begin(waiting.ref, attempt=1, lease=LEASE) is None
    assert world.bus.begin(committed.ref, attempt=1, lease=LEASE) is None
    reopened = world.bus.open(waiting.ref)
    assert reopened is not None
    assert reopened.state.state is DeliveryStatus.WAITING


def test_progress_is_written_as_releases_write_it_that_know_no_name_for_who_runs_it() -> None:
    assert DeliveryState().encode() == (
        b'{"attempt":1,"state":"offered","errors":0,"crashes":0,"deaths":0,"reason":""}'
    )
    assert DeliveryState.decode(DeliveryState().begun("me").encode()) == DeliveryState().begun("me")


def test_a_lease_of_a_clock_that_was_set_back_is_pulled_in(world: Any, ended: Any) -> None:
    world.publish(ended("offered"), ended("running"), ended("waiting"))
    offered, running, waiting = world.receive()
    world.bus.begin(running.ref, attempt=1, lease=LEASE)
    later = waiting.state.put_off("the quota")
    world.bus.compare_and_set_state(waiting.ref, before=waiting.state, after=later, lease=LEASE)
    world.clock.now -= HOUR

    assert world.bus.clamp_leases(SUMMARIZER, lease=LEASE) == 2
    assert world.bus.clamp_leases(SUMMARIZER, lease=LEASE) == 0
    world.clock.now += LEASE + 1
    assert {ref for ref, _ in world.bus.overdue(SUMMARIZER, limit=10)} == {offered.ref, running.ref}


def test_progress_that_a_newer_release_has_added_to_is_read() -> None:
    told = DeliveryState(attempt=3, errors=2).encode().removesuffix(b"}") + b',"mood":"good"}'

    assert DeliveryState.decode(told) == DeliveryState(attempt=3, errors=2)


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
        self.sweeper = Dispatcher(SUMMARIZER, bus=self.world.bus, jobs=FakeJobs(), retry_policy=retry_policy, ahead=4)
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
