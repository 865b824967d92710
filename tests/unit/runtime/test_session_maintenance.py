"""Sessions are looked after now and then, whatever is in the way at times."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nous.domain.errors import Unavailable
from nous.domain.scope import Scope
from nous.runtime.maintenance import SessionMaintenanceLoop
from nous.services.session_lifecycle import RecoveryAction


class Finishing:
    """Notes what it is asked for; has *deeds* to tell of each time, and meets with *troubles* first."""

    def __init__(self, *troubles: Exception, deeds: int = 0) -> None:
        self.troubles = list(troubles)
        self.deeds = deeds
        self.asked: list[str] = []
        self.told = 0

    def close(self) -> Iterator[RecoveryAction]:
        return self._asked("close")

    def recover(self, *, patiently: bool) -> Iterator[RecoveryAction]:
        return self._asked("recover patiently" if patiently else "recover")

    def _asked(self, what: str) -> Iterator[RecoveryAction]:
        self.asked.append(what)
        if self.troubles:
            raise self.troubles.pop()
        for number in range(self.deeds):
            self.told += 1
            yield RecoveryAction(Scope(), f"s{number}", "ended")


def tender(finishing: Any, *, recover_every: float = 3600.0) -> SessionMaintenanceLoop:
    return SessionMaintenanceLoop(finishing, interval=0.001, recover_every=recover_every)


def test_what_was_left_lying_is_looked_for_at_once_and_then_seldom() -> None:
    seldom, often = Finishing(), Finishing()
    for post in (tender(seldom), tender(often, recover_every=0.0)):
        post.run_once()
        post.run_once()

    assert seldom.asked == ["close", "recover patiently", "close"]
    assert often.asked == ["close", "recover patiently"] * 2


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

    assert finishing.asked[:3] == ["close", "close", "recover patiently"]


def test_it_stops_between_two_sessions() -> None:
    finishing = Finishing(deeds=1000)
    post = tender(finishing)
    post.stop()
    post.run_once()

    assert finishing.told == 2  # one that was idle, and one that was left lying
