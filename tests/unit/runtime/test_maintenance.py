"""What is looked after beside the work, now and then, whatever is in the way at times."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from builders.buses import WholeBus

from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority, Subscription
from nous.domain.effects import Effects
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEnded
from nous.runtime.maintenance import SessionMaintenanceLoop, StreamTrimmer
from nous.services.session_lifecycle import RecoveryAction


def test_the_direction_of_a_difference_is_told() -> None:
    assert GroupCounters.of({"received": 3, "done": 1}, in_flight=0).why.startswith("2 were received and are nowhere")
    assert GroupCounters.of({"done": 1}, in_flight=2).why.startswith("3 more are accounted for")
    assert GroupCounters.of({"received": 3}, in_flight=3).why == ""


class Finishing:
    """Notes what it is asked for; meets with *troubles* first."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.asked: list[str] = []

    def close(self) -> Iterator[RecoveryAction]:
        return self._asked("close")

    def recover(self) -> Iterator[RecoveryAction]:
        return self._asked("recover")

    def _asked(self, what: str) -> Iterator[RecoveryAction]:
        self.asked.append(what)
        if self.troubles:
            raise self.troubles.pop()
        yield from ()


def tender(finishing: Any, *, recover_every: float = 3600.0) -> SessionMaintenanceLoop:
    return SessionMaintenanceLoop(finishing, interval=0.001, recover_every=recover_every)


def test_what_was_left_lying_is_looked_for_at_once_and_then_seldom() -> None:
    seldom, often = Finishing(), Finishing()
    for post in (tender(seldom), tender(often, recover_every=0.0)):
        post.run_once()
        post.run_once()

    assert seldom.asked == ["close", "recover", "close"]
    assert often.asked == ["close", "recover"] * 2


@pytest.mark.parametrize("trouble", [Unavailable("Redis is away"), ValueError("a defect")])
def test_what_goes_wrong_is_tried_again(trouble: Exception, wait_until: Any) -> None:
    finishing = Finishing(trouble)
    post = tender(finishing)
    thread = threading.Thread(target=post.run)
    thread.start()
    try:
        wait_until(lambda: len(finishing.asked) > 2, "another look", seconds=10)
    finally:
        post.stop()
        thread.join()

    assert finishing.asked[:3] == ["close", "close", "recover"]


SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
DAY = 86400.0


def housekeeper(trimming: Any, *, interval: float = DAY) -> StreamTrimmer:
    return StreamTrimmer(trimming, kinds=[SessionEnded], keep=30 * DAY, interval=interval)


def test_what_is_older_than_it_is_to_stay_goes_from_both_lanes(ended: Any, clock: Any) -> None:
    clock.now = time.time()  # servers give entries their own time
    bus = WholeBus(clock=clock)
    for priority in Priority:
        bus.publish(*(ended(f"{priority} {number}") for number in range(3)), priority=priority)
        for delivery in bus.receive(SUMMARIZER, priority=priority, limit=10, lease=60):
            bus.commit(delivery, Effects())

    clock.now += 29 * DAY
    housekeeper(bus).run_once()
    early = [backlog.length for backlog in bus.backlogs(SUMMARIZER)]
    clock.now += 2 * DAY
    housekeeper(bus).run_once()

    assert early == [3, 3]
    assert [backlog.length for backlog in bus.backlogs(SUMMARIZER)] == [1, 1]
