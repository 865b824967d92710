"""Events become jobs, jobs commit once, and what is lost on the way is found again."""

from dataclasses import replace
from typing import Any

import pytest
from builders.jobs import FakeJobs
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority, Subscription
from nous.domain.effects import Effects
from nous.domain.events import Event, SessionEnded
from nous.jobs.base import QueueKind

LEASE = 60.0
TOY = Subscription("toy", SessionEnded)


@pytest.mark.parametrize(
    ("effects", "line"),
    [
        (Effects(), {"event": "delivery.done", "emitted": 0}),
        (Effects(skipped="empty"), {"event": "delivery.skipped", "reason": "empty"}),
    ],
)
def test_what_came_of_an_attempt_is_logged_with_every_id(
    runtime: Any, ended: Any, effects: Effects, line: dict[str, Any]
) -> None:
    event = ended()
    runtime.offer(event)

    runtime.toy.succeeds(effects)

    with capture_logs(processors=[merge_contextvars]) as lines:
        runtime.run()

    ids = {"worker": "toy", "event_id": str(event.id), "session_id": "s1", "job_id": f"toy--{event.id}--1"}
    assert [said.items() >= (ids | line).items() for said in lines] == [True]


def test_the_backlog_stays_in_the_stream(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(*(ended(f"s{i}") for i in range(10)))

    runtime.dispatcher.dispatch()
    runtime.dispatcher.dispatch()

    assert runtime.jobs.backlog("toy", QueueKind.LIVE) == 4
    assert runtime.account.in_flight == 4


@pytest.mark.parametrize(("backlog", "taken"), [(0, 8), (6, 2), (7, None), (8, None), (9, None)])
def test_a_queue_is_filled_up_once_a_quarter_of_it_is_free(
    runtime: Any, ended: Any, backlog: int, taken: int | None
) -> None:
    class Standing(FakeJobs):
        def backlog(self, worker: str, line: QueueKind) -> int:
            return backlog if (worker, line) == ("toy", QueueKind.LIVE) else 0

    runtime.bus.publish(*(ended(f"s{i}") for i in range(20)))

    queued = replace(runtime.dispatcher, jobs=Standing(), ahead=8).dispatch()

    assert queued == taken
    assert runtime.account.in_flight == (taken or 0)


def test_a_job_that_still_waits_is_not_submitted_again(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())

    for _ in range(3):
        runtime.again()

    assert len(runtime.jobs.submitted) == 1
    assert runtime.run() == ["done"]


def test_losing_every_job_loses_nothing(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(*(ended(f"s{i}") for i in range(4)))
    runtime.dispatcher.dispatch()

    runtime.jobs.lose()
    runtime.again()

    assert runtime.run() == ["done"] * 4
    assert runtime.account.discrepancy == 0


def test_what_is_tried_again_waits_while_its_queue_is_full_and_is_not_kept_away_by_what_is_new(
    runtime: Any, ended: Any
) -> None:
    runtime.bus.publish(*(ended(f"s{i}") for i in range(30)))
    runtime.bus.receive(TOY, priority=Priority.LIVE, limit=20, lease=LEASE)
    runtime.later()
    runtime.dispatcher.dispatch()

    waiting = [(runtime.dispatcher.sweep(), runtime.jobs.backlog("toy", QueueKind.LIVE)) for _ in range(3)]

    assert waiting == [(4, 8), (0, 8), (0, 8)]
    assert runtime.account.in_flight == 24
    while runtime.account.done < 30:
        assert runtime.run()
        runtime.dispatcher.dispatch()
        runtime.later(2)  # what found no room is looked at again a second later
        runtime.dispatcher.sweep()
        assert runtime.jobs.backlog("toy", QueueKind.LIVE) <= 8
    assert runtime.account == GroupCounters(received=30, done=30)


def test_an_attempt_whose_process_died_is_made_again_by_the_sweeper_alone(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    runtime.die()
    runtime.toy.succeeds()
    runtime.dispatcher.sweep()
    assert runtime.run() == []

    runtime.again()

    assert runtime.run() == ["done"]
    assert runtime.jobs.submitted[-1].attempt == 2


def test_two_sweepers_submit_an_attempt_once(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    runtime.jobs.lose()
    runtime.later()

    submitted = [runtime.dispatcher.sweep() for _ in range(2)]

    assert submitted == [1, 0]


def test_a_worker_that_wakes_after_its_lease_commits_nothing_twice(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())

    def sleep_through_the_lease(_: Event) -> Effects:
        runtime.toy.succeeds(Effects(events=(ended("follow-up"),)))
        runtime.again()
        outcome = runtime.jobs.run(runtime.attempts, "toy")
        assert outcome == ["done"]
        return Effects(events=(ended("another"),))

    runtime.toy.behave = sleep_through_the_lease

    assert runtime.run() == ["nothing to do: it was committed meanwhile"]
    assert runtime.account.done == 1
    assert [d.event.session_id for d in runtime.bus.receive(TOY, priority=Priority.LIVE, limit=9, lease=1)] == [
        "follow-up"
    ]


def test_a_job_of_an_attempt_that_was_given_up_does_nothing(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    [stale] = runtime.jobs.submitted
    runtime.jobs.lose()
    runtime.again()

    outcome = runtime.attempts("toy", stale.ref.priority, stale.ref.entry, stale.attempt)

    assert outcome == "nothing to do: attempt 2 is offered"
    assert runtime.toy.seen == []
