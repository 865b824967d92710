"""What a bus promises of leases and progress, asked of each one."""

from typing import Any

import pytest

from nous.bus.base import Delivery, Subscription
from nous.bus.delivery_state import DeliveryState, DeliveryStatus
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LEASE = 60.0
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
