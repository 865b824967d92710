"""What follows from each way in which an attempt can fail."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from nous import log
from nous.bus.accounting import GroupCounters
from nous.bus.base import Subscription
from nous.domain.effects import DegradedResult, Effects
from nous.domain.errors import BadInput, Deferred, Fatal, InTheWay, NotAllowed, Retryable
from nous.domain.events import Event, SessionEnded
from nous.jobs.base import QueueKind

LEASE = 60.0
TOY = Subscription("toy", SessionEnded)


def test_an_error_that_may_pass_is_tried_again_exactly_as_often_as_configured(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(Retryable("not now"))

    for _ in range(10):
        runtime.run()
        runtime.later(20)
        runtime.sweeper.sweep()

    assert len(runtime.toy.seen) == 3
    [letter] = runtime.bus.letters()
    assert letter.reason == "failed 3 times; Retryable: not now"
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_an_error_that_quotes_half_a_character_is_an_error_like_any_other(
    runtime: Any, ended: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    log.configure("warning", "json")
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(ValueError("bad \ud800 text"))

    assert runtime.run() == ["failed: ValueError: bad ? text"]

    [(_, progress)] = _overdue(runtime)
    assert (progress.errors, progress.crashes) == (1, 0)
    assert "delivery.retry_scheduled" in capsys.readouterr().err


class Panic(BaseException):
    """As a native library raises it, so that nobody takes it for an error."""


@pytest.mark.parametrize("raised", [SystemExit(0), Panic("index out of range")], ids=["exit", "panic"])
def test_a_handler_that_tries_to_exit_has_failed_like_any_other(
    runtime: Any, ended: Any, raised: BaseException
) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(raised)

    for _ in range(10):
        runtime.run()
        runtime.later(20)
        runtime.sweeper.sweep()

    assert len(runtime.toy.seen) == 3
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_a_compromise_is_taken_at_the_last_attempt_and_not_before(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(DegradedResult(Retryable("not now"), Effects(skipped="made do")))

    said = []
    for _ in range(10):
        said += runtime.run()
        runtime.later(20)
        runtime.sweeper.sweep()

    assert said == ["failed: DegradedResult: not now", "failed: DegradedResult: not now", "done"]
    assert runtime.bus.letters() == []
    assert runtime.account == GroupCounters(received=1, skipped={"made do": 1})


def test_a_retry_waits_for_its_backoff(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(Retryable("not now"))
    runtime.run()

    runtime.later(0.4)
    assert runtime.sweeper.sweep() == 0
    runtime.later(1.0)
    assert runtime.sweeper.sweep() == 1


def test_input_that_can_never_work_is_buried_at_once(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended("bad"), ended("good"))
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _only("bad", _raise(BadInput("no such file")))

    assert runtime.run() == ["failed: BadInput: no such file", "done"]
    assert runtime.account == GroupCounters(received=2, done=1, dead=1)


@pytest.mark.parametrize("error", [NotAllowed, InTheWay])
def test_what_the_operator_has_to_change_leaves_him_time_and_is_buried_in_the_end(
    runtime: Any, ended: Any, error: type[Fatal]
) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(error("Redis does not do that"))

    for attempt in (1, 2):
        assert runtime.run() == [f"failed: {error.__name__}: Redis does not do that"]
        runtime.later(9)
        assert (attempt, runtime.sweeper.sweep()) == (attempt, 0)
        runtime.later(2)
        assert (attempt, runtime.sweeper.sweep()) == (attempt, 1)

    assert runtime.account == GroupCounters(received=1, in_flight=1)
    runtime.run()
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_being_told_when_to_come_back_costs_no_attempt(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()

    for _ in range(10):
        runtime.toy.behave = _raise(Deferred("quota", until=runtime.clock.date() + timedelta(seconds=30)))
        runtime.run()
        runtime.later(31)
        runtime.sweeper.sweep()
    runtime.toy.behave = _succeed

    assert runtime.run() == ["done"]
    assert runtime.account.dead == 0


def test_a_defect_in_a_handler_is_tried_again_and_then_buried(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(ZeroDivisionError("oops"))

    for _ in range(5):
        runtime.run()
        runtime.later(20)
        runtime.sweeper.sweep()

    assert runtime.bus.letters()[0].reason == "failed 3 times; ZeroDivisionError: oops"


def test_the_second_crash_leads_into_quarantine_and_neighbours_live(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended("poison"), ended("neighbour"))
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _only("poison", _die)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runtime.run()
        runtime.run()
        runtime.later()
        runtime.sweeper.sweep()

    assert runtime.account.done == 1
    assert runtime.jobs.submitted[-1].line is QueueKind.QUARANTINE


def test_an_event_is_buried_after_two_deaths_where_it_was_alone(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended("poison"))
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _die

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runtime.run()
        runtime.later()
        runtime.sweeper.sweep()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runtime.run(QueueKind.QUARANTINE)
        order = runtime.jobs.submitted[-1]
        runtime.attempts.blame("toy", order.ref.priority, order.ref.entry, order.attempt)
        runtime.sweeper.sweep()

    [letter] = runtime.bus.letters()
    assert "alone" in letter.reason
    assert runtime.account == GroupCounters(received=1, dead=1)


def test_a_killed_fleet_in_quarantine_is_not_held_against_its_event(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended("innocent"))
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _die

    for _ in range(6):
        for line in (QueueKind.LIVE, QueueKind.QUARANTINE):
            if runtime.jobs.backlog("toy", line):
                with pytest.raises(KeyboardInterrupt):
                    runtime.run(line)
        runtime.later()
        runtime.sweeper.sweep()
    runtime.toy.behave = _succeed

    assert runtime.run(QueueKind.QUARANTINE) == ["done"]
    assert runtime.account.dead == 0


def test_a_redriven_letter_is_attempted_afresh_under_numbers_of_its_own(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _raise(Retryable("not now"))
    for _ in range(3):
        runtime.run()
        runtime.later(20)
        runtime.sweeper.sweep()

    runtime.bus.redrive(runtime.bus.letters()[0], TOY)
    runtime.later(1)
    runtime.sweeper.sweep()
    runtime.run()
    runtime.later(20)
    runtime.toy.behave = _succeed
    runtime.sweeper.sweep()

    assert runtime.run() == ["done"]
    assert [order.attempt for order in runtime.jobs.submitted] == [1, 2, 3, 4, 5]
    assert runtime.account == GroupCounters(received=1, done=1)


def test_a_death_that_is_told_late_counts_all_the_same(runtime: Any, ended: Any) -> None:
    runtime.bus.publish(ended("endless"))
    runtime.dispatcher.dispatch()
    runtime.toy.behave = _die
    for line in (QueueKind.LIVE, QueueKind.LIVE, QueueKind.QUARANTINE):
        with pytest.raises(KeyboardInterrupt):
            runtime.run(line)
        runtime.later()
        runtime.sweeper.sweep()

    for order in runtime.jobs.submitted[-2:]:
        runtime.attempts.blame("toy", order.ref.priority, order.ref.entry, 3)
    runtime.sweeper.sweep()

    assert runtime.account.dead == 1


def test_a_delivery_that_cannot_be_looked_at_does_not_keep_the_others_waiting(
    runtime: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.bus.publish(ended("odd"), ended("plain"))
    runtime.dispatcher.dispatch()
    runtime.jobs.lose()
    runtime.later()
    look = runtime.bus.open

    def stumble(ref: Any) -> Any:
        delivery = look(ref)
        if delivery.event.session_id == "odd":
            raise TypeError("odd")
        return delivery

    monkeypatch.setattr(runtime.bus, "open", stumble)

    assert runtime.sweeper.sweep() == 1
    assert runtime.jobs.submitted[-1].session_id == "plain"


def _die(_: Event) -> Effects:
    raise KeyboardInterrupt


def _succeed(_: Event) -> Effects:
    return Effects()


def _raise(error: BaseException) -> Callable[[Event], Effects]:
    def behave(_: Event) -> Effects:
        raise error

    return behave


def _only(session_id: str, behave: Callable[[Event], Effects]) -> Callable[[Event], Effects]:
    """Behave so with that session, and well with every other."""
    return lambda event: behave(event) if event.session_id == session_id else Effects()


def _overdue(runtime: Any) -> Any:
    runtime.later()
    return runtime.bus.overdue(TOY, limit=10)
