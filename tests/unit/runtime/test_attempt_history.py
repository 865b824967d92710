"""What a dead letter tells of each attempt, and what it does not tell."""

from datetime import timedelta
from typing import Any

import pytest

from nous import log
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, history_of
from nous.domain.errors import BadInput, Deferred, Retryable
from nous.jobs.base import QueueKind

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
        said += [progress.reason for _, progress in runtime.bus.overdue(runtime.sweeper.subscription, limit=1)]
        runtime.sweeper.sweep()

    [letter] = runtime.bus.letters()
    kept = f"{said} {letter} {capsys.readouterr().err}"
    assert "boss" not in kept
    assert "hunter22" not in kept
    assert "characters" in kept


def test_a_line_that_says_nothing_to_this_release_is_passed_over() -> None:
    good = AttemptFailure(fate=AttemptOutcome.FAILED, attempt=2, text="x")
    lines = ["", "no", "1 {}", "1 []", '1 {"fate":"teleported"}', "x " + good.encode(), "9" * 40 + " " + good.encode()]

    assert [each.attempt for each in history_of("\n".join([*lines, f"1000 {good.encode()}"]))] == [2]
