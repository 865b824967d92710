"""The clerk of a worker, whose server is in trouble."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from nous.backoff import RetryBackoff
from nous.domain.errors import Unavailable
from nous.runtime.dispatch_loop import DispatchLoop


@pytest.mark.parametrize(
    ("trouble", "told"),
    [(Unavailable("no writing: X"), "dispatch_loop.retry_scheduled"), (KeyError("x"), "dispatch_loop.error")],
)
def test_what_goes_wrong_again_and_again_is_told_ever_more_rarely_though_the_sweeping_goes_well(
    trouble: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryBackoff, "wait", 0.0)
    dispatcher, sweeper = Mock(), Mock()
    dispatcher.dispatch.side_effect = [*[trouble] * 100, 0]
    clerk = _clerk(dispatcher, sweeper)
    dispatcher.wait.side_effect = _stopping(clerk)

    with capture_logs() as logs:
        clerk.run()

    assert [line["event"] for line in logs] == [*[told] * 7, "dispatch_loop.recovered"]
    assert logs[-1]["failures"] == 100
    assert sweeper.sweep.call_count == 101


def test_each_duty_is_told_of_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryBackoff, "wait", 0.0)
    dispatcher, sweeper = Mock(), Mock()
    sweeper.sweep.side_effect = Unavailable("no sweeping")
    dispatcher.dispatch.side_effect = [*[Unavailable("no dispatching")] * 3, 0]
    clerk = _clerk(dispatcher, sweeper)
    dispatcher.wait.side_effect = _stopping(clerk)

    with capture_logs() as logs:
        clerk.run()

    assert sorted(line["error"] for line in logs if "error" in line) == ["no dispatching"] * 2 + ["no sweeping"] * 3


def _stopping(clerk: DispatchLoop) -> Callable[[float], None]:
    def wait(_seconds: float) -> None:
        clerk.stop()

    return wait


def _clerk(dispatcher: Any, sweeper: Any) -> DispatchLoop:
    jobs = Mock()
    jobs.backlog.return_value = 0
    return DispatchLoop(
        "toy", dispatcher=dispatcher, sweeper=sweeper, jobs=jobs, sweep_interval=0, open_quarantine=lambda _: None
    )
