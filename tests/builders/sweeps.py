"""A folder with sessions, which is swept onto a bus in memory by a clock that is moved by hand."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from nous.bus.base import Lane, Subscription
from nous.bus.memory import MemoryBus
from nous.events import SessionEnded
from nous.producer import Producer
from nous.runtime.publish import About, Handover
from nous.runtime.watch import Watcher
from nous.runtime.watching import Rules, Sweep
from nous.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.watched import Place, Remembered, WatchedInMemory

READER = Subscription("episode-summarizer", SessionEnded)
HOUR, DAY = 3600, 86400
NOW = 1_800_000_000
TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n"


class Forgetful(WatchedInMemory):
    """Breaks off where it is to remember: as if the process were killed between publishing and remembering."""

    is_dying = False

    def remember(self, place: Place, name: str, what: Remembered) -> None:
        if self.is_dying:
            raise KeyboardInterrupt
        super().remember(place, name, what)


class Scene:
    """A folder with sessions, and a bus that takes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = float(NOW)
        self.watched = Forgetful()
        self.read: list[Path] = []
        self.instead: Callable[[Path], None] = lambda _: None
        store = MemoryStore()
        self.bus = MemoryBus(store.apply)
        handover = Handover(store, StoreKeys(), inline_limit=1000, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
        self.producer = Producer(self.bus, self.bus, self.bus, handover, readers=[READER])

    def write(self, name: str, *, age: float = 2 * HOUR, text: str = TEXT) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (self.now - age, self.now - age))
        return path

    def watcher(self, *folders: Path) -> Watcher:
        return Watcher(
            [Place(Scope(), "here", folder) for folder in folders or (self.folder,)],
            watched=self.watched,
            hand_over=self.hand_over,
            rules=Rules(idle=HOUR / 2, since=30 * DAY),
            clock=lambda: self.now,
            interval=0.01,
            told=self.told,
        )

    def sweep(self, *folders: Path) -> Sweep:
        self.read.clear()
        return self.watcher(*folders).sweep()

    def told(self, sweep: Sweep) -> None:
        del sweep

    def hand_over(self, path: Path, *, lane: Lane) -> Iterator[tuple[str, bool]]:
        self.read.append(path)
        self.instead(path)
        for each in self.producer.publish(path, About(), lane=lane):
            yield each.event.session_id, each.receipt.fresh

    def received(self, lane: Lane = Lane.LIVE) -> list[str]:
        found = self.bus.receive(READER, lane=lane, limit=100, lease=60)
        return [each.event.session_id.rpartition("-")[0] for each in found]
