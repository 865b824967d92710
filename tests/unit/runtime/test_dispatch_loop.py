"""The dispatch loop of a worker, whose server is in trouble."""

from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from nous.backoff import RetryBackoff
from nous.domain.errors import Unavailable
from nous.jobs.base import MemoryJobs
from nous.runtime.dispatch_loop import DispatchLoop


class Duties:
    """A dispatcher that fails thrice and then stops the loop, and a sweeper that always fails."""

    def __init__(self) -> None:
        self._left: Iterator[bool] = iter([True] * 3)
        duties: Any = self
        self.loop = DispatchLoop(
            "toy",
            dispatcher=duties,
            sweeper=duties,
            jobs=MemoryJobs(),
            sweep_interval=0,
            open_quarantine=lambda _: None,
        )

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
