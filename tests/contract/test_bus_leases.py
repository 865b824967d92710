"""What a bus promises of leases and progress, asked of each one."""

from typing import Any

import pytest

from nous.bus.base import Delivery, Lane, Subscription
from nous.bus.delivery_state import Progress, State
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

    assert world.bus.overdue(SUMMARIZER, limit=10) == [(delivery.ticket, Progress())]


def test_a_renewed_lease_ends_later_and_never_earlier(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.renew([delivery.ticket], lease=10 * LEASE)
    world.bus.renew([delivery.ticket], lease=1)
    world.clock.now += 2 * LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_renewing_does_not_bring_back_what_was_committed(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    world.bus.renew([delivery.ticket], lease=1)
    world.clock.now += LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_of_two_that_amend_the_same_progress_one_succeeds(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    before, after = delivery.progress, delivery.progress.begun()

    won = [world.bus.amend(delivery.ticket, before=before, after=after, lease=LEASE) for _ in range(2)]

    assert won == [True, False]
    reopened = world.bus.open(delivery.ticket)
    assert reopened is not None
    assert reopened.progress.state is State.RUNNING


def test_what_is_put_off_is_not_overdue_before_its_time(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    failed = delivery.progress.failed("the model was busy")

    world.bus.amend(delivery.ticket, before=delivery.progress, after=failed, lease=3 * LEASE)

    world.clock.now += 2 * LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += 2 * LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == [(delivery.ticket, failed)]


def test_nothing_amends_what_was_committed(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    assert not world.bus.amend(delivery.ticket, before=Progress(), after=Progress().begun(), lease=LEASE)
    assert world.account.in_flight == 0


@pytest.mark.parametrize("reason", ["", "the model was busy"], ids=["first attempt", "after an error"])
def test_an_attempt_that_was_offered_begins_once_and_holds_its_lease(world: Any, ended: Any, reason: str) -> None:
    event = ended()
    world.publish(event)
    [received] = world.receive()
    offered = Progress(errors=bool(reason), reason=reason)
    world.bus.amend(received.ticket, before=received.progress, after=offered, lease=0)

    first, second = (world.bus.begin(received.ticket, attempt=1, lease=LEASE) for _ in range(2))

    assert second is None
    assert first == Delivery(received.ticket, event, offered.begun(first.progress.by))
    world.clock.now += LEASE / 2
    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += LEASE
    assert world.bus.overdue(SUMMARIZER, limit=10) == [(received.ticket, first.progress)]


def test_an_attempt_whose_turn_is_over_does_not_begin(world: Any, ended: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    waiting, committed = world.receive()
    world.bus.amend(waiting.ticket, before=waiting.progress, after=waiting.progress.failed("oops"), lease=LEASE)
    world.bus.commit(committed, Effects())

    assert world.bus.begin(waiting.ticket, attempt=1, lease=LEASE) is None
    assert world.bus.begin(committed.ticket, attempt=1, lease=LEASE) is None
    reopened = world.bus.open(waiting.ticket)
    assert reopened is not None
    assert reopened.progress.state is State.WAITING


def test_progress_is_written_as_releases_write_it_that_know_no_name_for_who_runs_it() -> None:
    assert Progress().encode() == (b'{"attempt":1,"state":"offered","errors":0,"crashes":0,"deaths":0,"reason":""}')
    assert Progress.decode(Progress().begun("me").encode()) == Progress().begun("me")


def test_a_lease_of_a_clock_that_was_set_back_is_pulled_in(world: Any, ended: Any) -> None:
    world.publish(ended("offered"), ended("running"), ended("waiting"))
    offered, running, waiting = world.receive()
    world.bus.begin(running.ticket, attempt=1, lease=LEASE)
    later = waiting.progress.put_off("the quota")
    world.bus.amend(waiting.ticket, before=waiting.progress, after=later, lease=LEASE)
    world.clock.now -= HOUR

    assert world.bus.pull_in(SUMMARIZER, lease=LEASE) == 2
    assert world.bus.pull_in(SUMMARIZER, lease=LEASE) == 0
    world.clock.now += LEASE + 1
    assert {ticket for ticket, _ in world.bus.overdue(SUMMARIZER, limit=10)} == {offered.ticket, running.ticket}


def test_a_lease_that_was_pulled_in_is_renewed_by_who_lives(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.clock.now -= HOUR
    world.bus.pull_in(SUMMARIZER, lease=LEASE)
    world.clock.now += LEASE - 1
    world.bus.renew([delivery.ticket], lease=LEASE)
    world.clock.now += 2

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


@pytest.mark.parametrize("lease", [LEASE, 10 * LEASE])
def test_no_lease_is_cut_that_some_process_of_the_group_takes(world: Any, ended: Any, lease: float) -> None:
    world.bus.pull_in(SUMMARIZER, lease=lease)
    world.publish(ended("receiving"), ended("beginning"))
    receiving, beginning = world.bus.receive(SUMMARIZER, lane=Lane.LIVE, limit=2, lease=lease)
    world.bus.begin(beginning.ticket, attempt=1, lease=lease)
    world.bus.renew([receiving.ticket], lease=lease)

    assert world.bus.pull_in(SUMMARIZER, lease=LEASE) == 0
    world.clock.now += lease - 1
    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_of_a_clock_set_back_the_longest_lease_of_the_group_is_what_is_left(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.pull_in(SUMMARIZER, lease=10 * LEASE)
    world.clock.now -= HOUR

    assert world.bus.pull_in(SUMMARIZER, lease=LEASE) == 1
    world.clock.now += 10 * LEASE - 1
    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += 2
    assert [ticket for ticket, _ in world.bus.overdue(SUMMARIZER, limit=10)] == [delivery.ticket]


def test_however_much_waits_a_lease_behind_it_is_pulled_in(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{number}") for number in range(1101)))
    *waiting, late = world.receive(limit=2000)
    world.bus.renew([late.ticket], lease=4 * LEASE)
    for each in waiting:
        later = each.progress.put_off("the quota")
        world.bus.amend(each.ticket, before=each.progress, after=later, lease=3 * LEASE)

    pulled = [world.bus.pull_in(SUMMARIZER, lease=LEASE) for _ in range(6)]

    assert sum(pulled) == 1
    world.clock.now += LEASE + 1
    assert [ticket for ticket, _ in world.bus.overdue(SUMMARIZER, limit=10)] == [late.ticket]


def test_progress_that_a_newer_release_has_added_to_is_read() -> None:
    told = Progress(attempt=3, errors=2).encode().removesuffix(b"}") + b',"mood":"good"}'

    assert Progress.decode(told) == Progress(attempt=3, errors=2)
