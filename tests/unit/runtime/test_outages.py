"""A server that is out for a while: what is done is not done again for that, and nobody is blamed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from builders.buses import WholeBus

from nous.backoff import retry_until_deadline
from nous.bus.base import Delivery, Subscription, Verdict
from nous.bus.delivery_state import DeliveryState, DeliveryStatus
from nous.domain.effects import Effects
from nous.domain.errors import Retryable, Unavailable
from nous.domain.events import SessionEnded

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
    """A bus that does not answer when it is told for the first time what follows."""
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

    assert runtime.sweeper.sweep() == 1
    assert runtime.run() == ["done"]
