"""Dispatcher, attempts and sweeper together, on a bus and a queue in memory, with a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from nous.bus.base import Lane, Subscription
from nous.bus.ledger import Account
from nous.bus.memory import MemoryBus
from nous.bus.progress import Patience
from nous.effects import Effects
from nous.embed.hashed import Hashed
from nous.errors import BadInput, Deferred, Retryable
from nous.events import Event, SessionEnded
from nous.jobs.base import Line
from nous.jobs.memory import MemoryJobs
from nous.kit import Kit, Worker
from nous.runtime.attempt import Attempts
from nous.runtime.dispatch import Dispatcher
from nous.runtime.leases import LeaseKeeper
from nous.runtime.sweep import Sweeper
from nous.store.memory import MemoryStore

LEASE = 60.0
TOY = Subscription("toy", SessionEnded)


class NoTranscripts:
    def read(self, event: SessionEnded) -> Any:
        raise BadInput(f"no transcript of {event.session_id} here")


@dataclass
class Toy:
    """A worker that does as it is told, and remembers what it was asked."""

    behave: Callable[[Event], Effects] = lambda _: Effects()
    seen: list[str] = field(default_factory=list[str])

    def handle(self, event: Event) -> Effects:
        self.seen.append(event.session_id)
        return self.behave(event)


class World:
    """One toy worker and what runs it."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.store = MemoryStore()
        self.bus = MemoryBus(self.store.apply, clock=clock)
        self.jobs = MemoryJobs()
        self.toy = Toy()
        patience = Patience(lease=LEASE, max_attempts=3, backoff_base=1, backoff_cap=10)
        kit = Kit(
            episodes=self.store,
            facts=self.store,
            transcripts=NoTranscripts(),
            embedder=Hashed(),
            clock=clock.date,
        )
        worker = Worker("toy", SessionEnded, lambda _: self.toy.handle)
        leases = LeaseKeeper(self.bus, lease=LEASE, deadline=600)
        self.attempts = Attempts({"toy": worker}, bus=self.bus, kit=kit, patience=patience, leases=leases)
        self.dispatcher = Dispatcher(TOY, bus=self.bus, jobs=self.jobs, ahead=4, lease=LEASE)
        self.sweeper = Sweeper(TOY, bus=self.bus, jobs=self.jobs, patience=patience)

    def run(self, line: Line = Line.LIVE) -> list[str]:
        return self.jobs.run(self.attempts, "toy", line)

    def later(self, seconds: float = LEASE + 1) -> None:
        self.clock.now += seconds

    @property
    def account(self) -> Account:
        return self.bus.account(TOY)


@pytest.fixture
def world(clock: Any) -> World:
    return World(clock)


def test_an_event_becomes_a_job_and_the_job_commits_it(world: World, ended: Any) -> None:
    world.bus.publish(ended())

    world.dispatcher.dispatch()

    assert world.run() == ["done"]
    assert world.account == Account(received=1, done=1)


def test_a_job_names_the_event_and_holds_nothing_of_it(world: World, ended: Any) -> None:
    event = ended(text="User: the password is hunter2")
    world.bus.publish(event)
    world.dispatcher.dispatch()

    [order] = world.jobs.submitted

    assert order.id == f"toy--{event.id}--1"
    assert "hunter2" not in f"{order} {order.description}"


def test_the_backlog_stays_in_the_stream(world: World, ended: Any) -> None:
    world.bus.publish(*(ended(f"s{i}") for i in range(10)))

    world.dispatcher.dispatch()
    world.dispatcher.dispatch()

    assert world.jobs.backlog("toy", Line.LIVE) == 4
    assert world.account.in_flight == 4


def test_bulk_work_has_a_queue_of_its_own(world: World, ended: Any) -> None:
    world.bus.publish(ended("past"), lane=Lane.BULK)
    world.bus.publish(ended("now"))

    world.dispatcher.dispatch()

    assert [order.queue for order in world.jobs.submitted] == ["toy", "toy-bulk"]


def test_an_entry_whose_dispatcher_died_is_submitted_by_the_sweeper(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.bus.receive(TOY, lane=Lane.LIVE, limit=1, lease=LEASE)

    world.later()
    world.sweeper.sweep()

    assert world.run() == ["done"]
    assert world.account.done == 1


def test_a_job_that_still_waits_is_not_submitted_again(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()

    for _ in range(3):
        world.later()
        world.sweeper.sweep()

    assert len(world.jobs.submitted) == 1
    assert world.run() == ["done"]


def test_losing_every_job_loses_nothing(world: World, ended: Any) -> None:
    world.bus.publish(*(ended(f"s{i}") for i in range(4)))
    world.dispatcher.dispatch()

    world.jobs.lose()
    world.later()
    world.sweeper.sweep()

    assert world.run() == ["done"] * 4
    assert world.account.balance == 0


def test_an_attempt_whose_process_died_is_made_again_by_the_sweeper_alone(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.toy.behave = _die

    with pytest.raises(SystemExit):
        world.run()
    world.toy.behave = lambda _: Effects()
    world.sweeper.sweep()
    assert world.run() == []

    world.later()
    world.sweeper.sweep()

    assert world.run() == ["done"]
    assert world.jobs.submitted[-1].attempt == 2


def test_two_sweepers_submit_an_attempt_once(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.jobs.lose()
    world.later()

    submitted = [world.sweeper.sweep() for _ in range(2)]

    assert submitted == [1, 0]


def test_a_worker_that_wakes_after_its_lease_commits_nothing_twice(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()

    def sleep_through_the_lease(_: Event) -> Effects:
        world.toy.behave = lambda _: Effects(events=(ended("follow-up"),))
        world.later()
        world.sweeper.sweep()
        outcome = world.jobs.run(world.attempts, "toy")
        assert outcome == ["done"]
        return Effects(events=(ended("another"),))

    world.toy.behave = sleep_through_the_lease

    assert world.run() == ["nothing to do: it was committed meanwhile"]
    assert world.account.done == 1
    assert [d.event.session_id for d in world.bus.receive(TOY, lane=Lane.LIVE, limit=9, lease=1)] == ["follow-up"]


def test_a_job_of_an_attempt_that_was_given_up_does_nothing(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    [stale] = world.jobs.submitted
    world.jobs.lose()
    world.later()
    world.sweeper.sweep()

    outcome = world.attempts("toy", stale.ticket.lane, stale.ticket.entry, stale.attempt)

    assert outcome == "nothing to do: attempt 2 is offered"
    assert world.toy.seen == []


def test_an_error_that_may_pass_is_tried_again_exactly_as_often_as_configured(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.toy.behave = _raise(Retryable("not now"))

    for _ in range(10):
        world.run()
        world.later(20)
        world.sweeper.sweep()

    assert len(world.toy.seen) == 3
    [letter] = world.bus.letters()
    assert letter.reason == "failed 3 times; Retryable: not now"
    assert world.account == Account(received=1, dead=1)


def test_a_retry_waits_for_its_backoff(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.toy.behave = _raise(Retryable("not now"))
    world.run()

    world.later(0.4)
    assert world.sweeper.sweep() == 0
    world.later(1.0)
    assert world.sweeper.sweep() == 1


def test_input_that_can_never_work_is_buried_at_once(world: World, ended: Any) -> None:
    world.bus.publish(ended("bad"), ended("good"))
    world.dispatcher.dispatch()
    world.toy.behave = lambda event: _raise(BadInput("no such file"))(event) if event.session_id == "bad" else Effects()

    assert world.run() == ["failed: BadInput: no such file", "done"]
    assert world.account == Account(received=2, done=1, dead=1)


def test_being_told_when_to_come_back_costs_no_attempt(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()

    for _ in range(10):
        world.toy.behave = _raise(Deferred("quota", until=world.clock.date() + timedelta(seconds=30)))
        world.run()
        world.later(31)
        world.sweeper.sweep()
    world.toy.behave = lambda _: Effects()

    assert world.run() == ["done"]
    assert world.account.dead == 0


def test_a_defect_in_a_handler_is_tried_again_and_then_buried(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.toy.behave = _raise(ZeroDivisionError("oops"))

    for _ in range(5):
        world.run()
        world.later(20)
        world.sweeper.sweep()

    assert world.bus.letters()[0].reason == "failed 3 times; ZeroDivisionError: oops"


def test_the_second_crash_leads_into_quarantine_and_neighbours_live(world: World, ended: Any) -> None:
    world.bus.publish(ended("poison"), ended("neighbour"))
    world.dispatcher.dispatch()
    world.toy.behave = lambda event: _die(event) if event.session_id == "poison" else Effects()

    for _ in range(2):
        with pytest.raises(SystemExit):
            world.run()
        world.run()
        world.later()
        world.sweeper.sweep()

    assert world.account.done == 1
    assert world.jobs.submitted[-1].line is Line.QUARANTINE


def test_an_event_is_buried_after_two_deaths_where_it_was_alone(world: World, ended: Any) -> None:
    world.bus.publish(ended("poison"))
    world.dispatcher.dispatch()
    world.toy.behave = _die

    for _ in range(2):
        with pytest.raises(SystemExit):
            world.run()
        world.later()
        world.sweeper.sweep()
    for _ in range(2):
        with pytest.raises(SystemExit):
            world.run(Line.QUARANTINE)
        order = world.jobs.submitted[-1]
        world.attempts.blame("toy", order.ticket.lane, order.ticket.entry, order.attempt)
        world.sweeper.sweep()

    [letter] = world.bus.letters()
    assert "alone" in letter.reason
    assert world.account == Account(received=1, dead=1)


def test_a_killed_fleet_in_quarantine_is_not_held_against_its_event(world: World, ended: Any) -> None:
    world.bus.publish(ended("innocent"))
    world.dispatcher.dispatch()
    world.toy.behave = _die

    for _ in range(6):
        for line in (Line.LIVE, Line.QUARANTINE):
            if world.jobs.backlog("toy", line):
                with pytest.raises(SystemExit):
                    world.run(line)
        world.later()
        world.sweeper.sweep()
    world.toy.behave = lambda _: Effects()

    assert world.run(Line.QUARANTINE) == ["done"]
    assert world.account.dead == 0


def test_a_redriven_letter_is_attempted_afresh_under_numbers_of_its_own(world: World, ended: Any) -> None:
    world.bus.publish(ended())
    world.dispatcher.dispatch()
    world.toy.behave = _raise(Retryable("not now"))
    for _ in range(3):
        world.run()
        world.later(20)
        world.sweeper.sweep()

    world.bus.redrive(world.bus.letters()[0], TOY)
    world.later(1)
    world.sweeper.sweep()
    world.run()
    world.later(20)
    world.toy.behave = lambda _: Effects()
    world.sweeper.sweep()

    assert world.run() == ["done"]
    assert [order.attempt for order in world.jobs.submitted] == [1, 2, 3, 4, 5]
    assert world.account == Account(received=1, done=1)


def _die(_: Event) -> Effects:
    raise SystemExit(9)


def _raise(error: Exception) -> Callable[[Event], Effects]:
    def behave(_: Event) -> Effects:
        raise error

    return behave
