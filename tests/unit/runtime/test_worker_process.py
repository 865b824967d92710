"""The loops of a process, started and stopped together, and the processes that it starts for suspects."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders.buses import WholeBus
from builders.jobs import FakeJobs
from structlog.testing import capture_logs

from nous.backoff import RetryBackoff, retry_until_deadline
from nous.bus.base import Delivery, Subscription, Verdict
from nous.bus.delivery_state import DeliveryState, DeliveryStatus
from nous.domain.effects import Effects
from nous.domain.errors import Retryable, Unavailable
from nous.domain.events import SessionEnded
from nous.runtime.worker_process import DispatchLoop, QuarantineStarter, WorkerProcess


class Post:
    """Runs until it is stopped, or told to end."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.ended = False

    def run(self) -> None:
        self.end.wait()
        self.ended = True

    def stop(self) -> None:
        self.end.set()


def test_a_fleet_that_is_asked_to_stop_lets_every_post_end_and_the_last_one_after_them() -> None:
    posts = [Post(), Post()]
    ended: list[bool] = []
    fleet = WorkerProcess(posts, finish=lambda: ended.extend(post.ended for post in posts))

    fleet.start()
    fleet.stop()

    assert fleet.wait()
    assert ended == [True, True]


def test_a_post_that_ends_by_itself_ends_the_fleet() -> None:
    posts = [Post(), Post()]
    fleet = WorkerProcess(posts)
    end = threading.Timer(20, fleet.stop)  # where it would go on for ever
    end.start()

    fleet.start()
    posts[0].end.set()
    was_asked = fleet.wait()
    end.cancel()

    assert not was_asked
    assert all(post.ended for post in posts)


class Duties:
    """A dispatcher that fails thrice and then stops the loop, and whose sweeps always fail."""

    def __init__(self) -> None:
        self._left: Iterator[bool] = iter([True] * 3)
        self.subscription, self.jobs = TOY, FakeJobs()
        duties: Any = self
        self.loop = DispatchLoop(duties, sweep_interval=0, open_quarantine=lambda _: None)

    def dispatch(self) -> int:
        if next(self._left, False):
            raise Unavailable("no dispatching")
        return 0

    def wait(self, _seconds: float) -> None:
        self.loop.stop()

    def sweep(self) -> int:
        raise Unavailable("no sweeping")


def test_each_duty_is_told_of_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryBackoff, "wait", 0.0)

    with capture_logs() as logs:
        Duties().loop.run()

    assert sorted(line["error"] for line in logs if "error" in line) == ["no dispatching"] * 2 + ["no sweeping"] * 3
    assert [line["task"] for line in logs if line["event"] == "task.recovered"] == ["dispatch"]


@contextmanager
def quarantines(log: Path, then: str) -> Generator[QuarantineStarter]:
    """Quarantines whose processes write the name of their worker down, and *then* do something."""
    found = QuarantineStarter(["/bin/sh", "-c", f'echo "$1" >> "$0"; {then}', str(log)])
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    log = tmp_path / "log"
    log.touch()
    return log


def test_of_one_worker_one_quarantine_runs_at_a_time(log: Path, wait_until: Any) -> None:
    with quarantines(log, "exec sleep 600") as opened:
        opened.open("toy")
        wait_until(lambda: log.read_text() == "toy\n", "the quarantine to begin")

        opened.open("toy")
        opened.open("other")
        wait_until(lambda: "other" in log.read_text(), "the quarantine of another worker to begin")

    assert log.read_text().split() == ["toy", "other"]


def test_a_quarantine_that_has_ended_is_opened_again(log: Path, wait_until: Any) -> None:
    with quarantines(log, "exit 0") as opened:

        def has_begun_again() -> bool:
            opened.open("toy")
            return log.read_text().split()[:2] == ["toy", "toy"]  # it may have ended once more by now

        wait_until(has_begun_again, "a second quarantine to begin", seconds=10)


TOY = Subscription("toy", SessionEnded)
LEASE = 60.0
OUT = Unavailable("Redis did not answer")


def failing(times: int, error: Exception = OUT) -> Callable[[], str]:
    """Something that fails that often before it goes well."""
    outcomes: Iterator[Exception | None] = iter([error] * times + [None])

    def say() -> str:
        if failure := next(outcomes):
            raise failure
        return "taken"

    return say


def test_a_call_is_repeated_until_it_is_taken_or_for_a_while_and_one_that_cannot_succeed_is_made_once() -> None:
    assert retry_until_deadline(failing(3), seconds=60) == "taken"
    with pytest.raises(Retryable):
        retry_until_deadline(failing(1000), seconds=0.1)
    with pytest.raises(ValueError, match="wrong"):
        retry_until_deadline(failing(1, ValueError("wrong")), seconds=60)


def test_a_commit_outlasts_an_outage_and_the_handler_runs_once(
    runtime: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit: Callable[[Delivery, Effects], Verdict] = runtime.bus.commit
    is_back = failing(2)

    def commit_when_back(delivery: Delivery, effects: Effects) -> Verdict:
        is_back()
        return commit(delivery, effects)

    monkeypatch.setattr(runtime.bus, "commit", commit_when_back)
    runtime.offer(ended())

    assert runtime.run() == ["done"]
    assert runtime.toy.seen == ["s1"]
    assert runtime.account.done == 1


@pytest.mark.usefixtures("briefly_out")
def test_what_follows_from_a_failure_is_written_down_after_an_outage(runtime: Any, ended: Any) -> None:
    runtime.toy.fails(Retryable("not yet"))
    runtime.offer(ended())
    runtime.run()

    [(_, progress)] = _pending(runtime)
    assert (progress.state, progress.errors, progress.reason) == (DeliveryStatus.WAITING, 1, "Retryable: not yet")


@pytest.fixture
def briefly_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the bus unavailable when it first sets a delivery to waiting."""
    amend, is_back = WholeBus.compare_and_set_state, failing(1)

    def amend_when_back(self: WholeBus, *said: Any, after: DeliveryState, **more: Any) -> bool:
        if after.state is DeliveryStatus.WAITING and is_back() != "taken":
            raise AssertionError
        return amend(self, *said, after=after, **more)

    monkeypatch.setattr(WholeBus, "compare_and_set_state", amend_when_back)


def _pending(runtime: Any) -> list[Any]:
    runtime.later()
    return list(runtime.bus.overdue(TOY, limit=10))


def test_an_attempt_is_queued_although_the_reply_was_lost_that_it_is_offered(
    runtime: Any, ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.offer(ended())
    runtime.jobs.lose()
    runtime.later()
    amend = runtime.bus.compare_and_set_state

    def sent_twice(*arguments: Any, **more: Any) -> bool:
        amend(*arguments, **more)
        return amend(*arguments, **more)

    monkeypatch.setattr(runtime.bus, "compare_and_set_state", sent_twice)

    assert runtime.dispatcher.sweep() == 1
    assert runtime.run() == ["done"]
