"""A folder with sessions, which is swept onto a bus by a clock that is moved by hand."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import redis

from builders import servers
from builders.stores import WholeStore
from nous.bus.base import Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome, FolderWatcher, SweepReport
from nous.services.publisher import Producer, Published
from nous.services.session_intake import SessionIntake, SessionMetadata
from nous.store.keys import StoreKeys
from nous.store.redis.transcripts import FileRecord, RedisFolderState, WatchedFolder

READER = Subscription("episode-summarizer", SessionEnded)
HOUR, DAY = 3600, 86400
NOW = 1_800_000_000
TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n"


def counts(sweep: SweepReport) -> Mapping[FileOutcome, int]:
    return {fate: count for fate, count in sweep.fates.items() if count}


class Forgetful(RedisFolderState):
    """Does something else first where it is to remember: as if the server were killed after publishing."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, StoreKeys(), bus_keys=BusKeys())
        self.first: Callable[[], object] = lambda: None

    def remember(self, place: WatchedFolder, name: str, what: FileRecord, *, after: Collection[UUID] = ()) -> bool:
        self.first()
        return super().remember(place, name, what, after=after)


class Scene:
    """A folder with sessions, and a bus that takes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = float(NOW)
        self.client = servers.fake()
        self.watched = Forgetful(self.client)
        self.read: list[Path] = []
        self.instead: Callable[[Path], None] = lambda _: None
        self.lose_events()

    def lose_events(self) -> None:
        """Begin with a bus that knows nothing, as one does whose server has lost what it had not written yet."""
        self.client.flushall()
        store = WholeStore(self.client)
        self.bus = store.bus
        session_intake = SessionIntake(
            store, StoreKeys(), inline_limit=1000, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)
        )
        self.producer = Producer(self.bus, self.bus, self.bus, session_intake, readers=[READER])

    def write(self, name: str, *, age: float = 2 * HOUR, text: str = TEXT) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (self.now - age, self.now - age))
        return path

    def watcher(self, *folders: Path) -> FolderWatcher:
        return FolderWatcher(
            [WatchedFolder(Scope(), "here", folder) for folder in folders or (self.folder,)],
            watched=self.watched,
            hand_over=self.hand_over,
            idle=HOUR / 2,
            since=30 * DAY,
            clock=lambda: self.now,
            interval=0.01,
            told=self.told,
        )

    def sweep(self, *folders: Path) -> SweepReport:
        self.read.clear()
        return self.watcher(*folders).sweep()

    def told(self, sweep: SweepReport) -> None:
        del sweep

    def hand_over(self, path: Path, priority: Priority) -> Iterator[Published]:
        self.read.append(path)
        self.instead(path)
        yield from self.producer.publish(path, SessionMetadata(), priority=priority)

    def received(self, priority: Priority = Priority.LIVE) -> list[str]:
        found = self.bus.receive(READER, priority=priority, limit=100, lease=60)
        return [each.event.session_id.rpartition("-")[0] for each in found]
