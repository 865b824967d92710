"""Old events are let go, now and then, whatever is in the way at times."""

from collections.abc import Callable, Iterator
from typing import Any

from nous.bus.base import Priority, Subscription
from nous.bus.memory.bus import MemoryBus
from nous.domain.effects import Effects
from nous.domain.events import Event, SessionEnded
from nous.runtime.maintenance import StreamTrimmer

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
DAY = 86400.0


class Trimmer:
    """Has *pages* for each stream; meets with *troubles* first."""

    def __init__(self, *troubles: Exception, pages: int = 1, on_page: Callable[[], None] = lambda: None) -> None:
        self.troubles = list(troubles)
        self.pages = pages
        self.on_page = on_page
        self.asked: list[tuple[str, Priority, float]] = []

    def trim(self, kind: type[Event], *, priority: Priority, keep: float) -> Iterator[int]:
        self.asked.append((kind.type, priority, keep))
        if self.troubles:
            raise self.troubles.pop()
        for _ in range(self.pages):
            self.on_page()
            yield 100


def housekeeper(trimming: Any, *, interval: float = DAY) -> StreamTrimmer:
    return StreamTrimmer(trimming, kinds=[SessionEnded], keep=30 * DAY, interval=interval)


def test_what_is_older_than_it_is_to_stay_goes_from_both_lanes(ended: Any, clock: Any) -> None:
    bus = MemoryBus(clock=clock)
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


def test_it_stops_between_two_pages() -> None:
    trimmer = Trimmer(pages=1000)
    post = housekeeper(trimmer)
    trimmer.on_page = post.stop
    post.run()

    assert len(trimmer.asked) == 2
