"""What follows from each way in which an attempt can fail, and what a dead letter tells of it."""

from datetime import timedelta
from typing import Any

import pytest

from nous import log
from nous.bus.accounting import GroupCounters
from nous.bus.base import Subscription
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, history_of
from nous.domain.effects import DegradedResult, Effects
from nous.domain.errors import BadInput, Deferred, Fatal, InTheWay, NotAllowed, Retryable
from nous.domain.events import SessionEnded
from nous.jobs.base import QueueKind

TOY = Subscription("toy", SessionEnded)


class Panic(BaseException):
    """As a native library raises it, so that nobody takes it for an error."""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Retryable("not now"), "Retryable: not now"),
        (ZeroDivisionError("a defect"), "ZeroDivisionError: a defect"),
        (SystemExit(0), "SystemExit: 0"),
        (Panic("index out of range"), "Panic: index out of range"),
    ],
    ids=["transient", "defect", "exit", "panic"],
)
def test_an_error_that_may_pass_is_tried_again_exactly_as_often_as_configured(
    runtime: Any, ended: Any, error: BaseException, text: str
) -> None:
    runtime.offer(ended())
    runtime.toy.fails(error)

    for _ in range(10):
        runtime.run()
        runtime.again(20)

    assert len(runtime.toy.seen) == 3
    [letter] = runtime.bus.letters()
    assert letter.reason == f"failed 3 times; {text}"
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_a_compromise_is_taken_at_the_last_attempt_and_not_before(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    runtime.toy.fails(DegradedResult(Retryable("not now"), Effects(skipped="made do")))

    said = []
    for _ in range(10):
        said += runtime.run()
        runtime.again(20)

    assert said == ["failed: DegradedResult: not now", "failed: DegradedResult: not now", "done"]
    assert runtime.bus.letters() == []
    assert runtime.account == GroupCounters(received=1, skipped={"made do": 1})


def test_a_retry_waits_for_its_backoff(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    runtime.toy.fails(Retryable("not now"))
    runtime.run()

    assert runtime.again(0.4) == 0
    assert runtime.again(1.0) == 1


def test_input_that_can_never_work_is_buried_at_once(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("bad"), ended("good"))
    runtime.toy.fails(BadInput("no such file"), only="bad")

    assert runtime.run() == ["failed: BadInput: no such file", "done"]
    assert runtime.account == GroupCounters(received=2, done=1, dead=1)


@pytest.mark.parametrize("error", [NotAllowed, InTheWay])
def test_what_the_operator_has_to_change_leaves_him_time_and_is_buried_in_the_end(
    runtime: Any, ended: Any, error: type[Fatal]
) -> None:
    runtime.offer(ended())
    runtime.toy.fails(error("Redis does not do that"))

    for attempt in (1, 2):
        assert runtime.run() == [f"failed: {error.__name__}: Redis does not do that"]
        runtime.later(9)
        assert (attempt, runtime.dispatcher.sweep()) == (attempt, 0)
        runtime.later(2)
        assert (attempt, runtime.dispatcher.sweep()) == (attempt, 1)

    assert runtime.account == GroupCounters(received=1, in_flight=1)
    runtime.run()
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_being_told_when_to_come_back_costs_no_attempt(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())

    for _ in range(10):
        runtime.toy.fails(Deferred("quota", until=runtime.clock.date() + timedelta(seconds=30)))
        runtime.run()
        runtime.again(31)
    runtime.toy.succeeds()

    assert runtime.run() == ["done"]
    assert runtime.account.dead == 0


def test_the_second_crash_leads_into_quarantine_and_neighbours_live(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("poison"), ended("neighbour"))
    runtime.toy.fails(KeyboardInterrupt(), only="poison")

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runtime.run()
        runtime.run()
        runtime.again()

    assert runtime.account.done == 1
    assert runtime.jobs.submitted[-1].line is QueueKind.QUARANTINE


def test_an_event_is_buried_after_two_deaths_where_it_was_alone(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("poison"))

    for _ in range(2):
        runtime.die()
        runtime.again()
    for _ in range(2):
        runtime.die(QueueKind.QUARANTINE)
        order = runtime.jobs.submitted[-1]
        runtime.attempts.blame("toy", order.ref.priority, order.ref.entry, order.attempt)
        runtime.dispatcher.sweep()

    [letter] = runtime.bus.letters()
    assert "alone" in letter.reason
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_a_killed_fleet_in_quarantine_is_not_held_against_its_event(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("innocent"))

    for _ in range(6):
        for line in (QueueKind.LIVE, QueueKind.QUARANTINE):
            if runtime.jobs.backlog("toy", line):
                runtime.die(line)
        runtime.again()
    runtime.toy.succeeds()

    assert runtime.run(QueueKind.QUARANTINE) == ["done"]
    assert runtime.account.dead == 0


def test_a_redriven_letter_is_attempted_afresh_under_numbers_of_its_own(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    runtime.toy.fails(Retryable("not now"))
    for _ in range(3):
        runtime.run()
        runtime.again(20)

    runtime.bus.redrive(runtime.bus.letters()[0], TOY)
    runtime.again(1)
    runtime.run()
    runtime.later(20)
    runtime.toy.succeeds()
    runtime.dispatcher.sweep()

    assert runtime.run() == ["done"]
    assert [order.attempt for order in runtime.jobs.submitted] == [1, 2, 3, 4, 5]
    assert runtime.account == GroupCounters(received=1, done=1)


def test_a_death_that_is_told_late_counts_all_the_same(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("endless"))
    for line in (QueueKind.LIVE, QueueKind.LIVE, QueueKind.QUARANTINE):
        runtime.die(line)
        runtime.again()

    for order in runtime.jobs.submitted[-2:]:
        runtime.attempts.blame("toy", order.ref.priority, order.ref.entry, 3)
    runtime.dispatcher.sweep()

    assert runtime.account.dead == 1


def test_a_delivery_that_cannot_be_looked_at_does_not_keep_the_others_waiting(
    runtime: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.offer(ended("odd"), ended("plain"))
    runtime.jobs.lose()
    runtime.later()
    look = runtime.bus.open

    def stumble(ref: Any) -> Any:
        delivery = look(ref)
        if delivery.event.session_id == "odd":
            raise TypeError("odd")
        return delivery

    monkeypatch.setattr(runtime.bus, "open", stumble)

    assert runtime.dispatcher.sweep() == 1
    assert runtime.jobs.submitted[-1].session_id == "plain"


SAID = "'I want to tell my boss that this is over', password=hunter22"


def test_each_attempt_is_told_with_what_went_wrong_and_where(runtime: Any, ended: Any) -> None:
    runtime.offer(ended())
    later = Deferred("quota", until=runtime.clock.date() + timedelta(seconds=30))
    for error in (Retryable("away"), later, KeyError("content"), BadInput("hopeless")):
        runtime.toy.fails(error)
        runtime.run()
        runtime.again()

    [letter] = runtime.bus.letters()
    assert [(each.attempt, each.fate, each.text) for each in letter.history] == [
        (1, AttemptOutcome.FAILED, "Retryable: away"),
        (2, AttemptOutcome.PUT_OFF, "Deferred: quota"),
        (3, AttemptOutcome.FAILED, "KeyError: 'content'"),
        (4, AttemptOutcome.FAILED, "BadInput: hopeless"),
    ]
    assert all(each.place.endswith("in behave") for each in letter.history)
    times = [each.at for each in letter.history]
    assert times == sorted(times)
    assert letter.traceback.splitlines()[-1] == "! BadInput: hopeless"


def test_crashes_are_told_from_deaths_and_from_jobs_that_were_lost(runtime: Any, ended: Any) -> None:
    runtime.offer(ended("poison"))
    runtime.jobs.lose()
    runtime.again()
    for line in (QueueKind.LIVE, QueueKind.LIVE, QueueKind.QUARANTINE, QueueKind.QUARANTINE):
        runtime.die(line)
        if line is QueueKind.QUARANTINE:
            order = runtime.jobs.submitted[-1]
            runtime.attempts.blame("toy", order.ref.priority, order.ref.entry, order.attempt)
        runtime.again()

    [letter] = runtime.bus.letters()
    assert [(each.attempt, each.fate) for each in letter.history] == [
        (1, AttemptOutcome.LOST),
        (2, AttemptOutcome.CRASHED),
        (3, AttemptOutcome.CRASHED),
        (4, AttemptOutcome.KILLED),
        (5, AttemptOutcome.KILLED),
    ]


@pytest.mark.parametrize("error", [Retryable(SAID), ValueError(SAID), BadInput(SAID)])
def test_what_an_error_quotes_is_neither_kept_nor_logged_nor_told_to_the_queue(
    runtime: Any, ended: Any, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    log.configure("debug", "json")
    runtime.offer(ended())
    runtime.toy.fails(error)

    said: list[str] = []
    for _ in range(3):
        said += runtime.run()
        runtime.later()
        said += [progress.reason for _, progress in runtime.bus.overdue(runtime.dispatcher.subscription, limit=1)]
        runtime.dispatcher.sweep()

    [letter] = runtime.bus.letters()
    kept = f"{said} {letter} {capsys.readouterr().err}"
    assert "boss" not in kept
    assert "hunter22" not in kept
    assert "characters" in kept


def test_a_line_that_says_nothing_to_this_release_is_passed_over() -> None:
    good = AttemptFailure(fate=AttemptOutcome.FAILED, attempt=2, text="x")
    lines = ["", "no", "1 {}", "1 []", '1 {"fate":"teleported"}', "x " + good.encode(), "9" * 40 + " " + good.encode()]

    assert [each.attempt for each in history_of("\n".join([*lines, f"1000 {good.encode()}"]))] == [2]
