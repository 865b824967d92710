"""A sweep under which the server loses its last writes, as a power cut would take them."""

import os
import signal
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from builders.waiting import wait_until
from typing_extensions import override

from nous.app.container import Container
from nous.app.services import producer_of
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.scope import Scope
from nous.redis_server import data_dir, embedded
from nous.redis_server.data_dir import locate
from nous.services.folder_watch import FileOutcome, FolderWatcher, SweepReport, WatchRules
from nous.services.publisher import Published
from nous.services.session_intake import SessionMetadata
from nous.store.folder_state import FileRecord, WatchedFolder
from nous.store.keys import StoreKeys
from nous.store.redis.transcripts import RedisFolderState

HOUR = 3600.0


class PowerCut:
    """Cuts the server's log where it ended at the last `mark`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._place = locate(directory)
        self._length = 0

    def mark(self) -> None:
        self._length = self._log.stat().st_size

    def strike(self) -> None:
        with data_dir.held(self._place.election, within=60):
            os.kill(int(self._place.pid.read_text()), signal.SIGKILL)
            wait_until(lambda: not data_dir.is_held(self._place.alive), "the server's end")
            os.truncate(self._log, self._length)
        embedded.ensure(self._directory)

    @property
    def _log(self) -> Path:
        return max((self._place.home / "appendonlydir").glob("*.incr.aof"))


class Struck(RedisFolderState):
    """Has the power cut *before* it remembers a file, or after."""

    before: bool
    cut: PowerCut | None = None

    @override
    def remember(self, place: WatchedFolder, name: str, what: FileRecord, *, after: Collection[UUID] = ()) -> bool:
        if self.cut and self.before:
            self.cut.strike()
        is_remembered = super().remember(place, name, what, after=after)
        if self.cut and not self.before:
            self.cut.strike()
        return is_remembered


def sweep(container: Container, folder: Path, watched: RedisFolderState) -> SweepReport:
    def hand_over(path: Path, priority: Priority) -> Iterator[Published]:
        return producer_of(container).publish(path, SessionMetadata(), priority=priority)

    watcher = FolderWatcher(
        [WatchedFolder(Scope(), "here", folder)],
        watched=watched,
        hand_over=hand_over,
        rules=WatchRules(idle=HOUR / 2, since=30 * 24 * HOUR),
        clock=time.time,
        interval=1,
        told=lambda _: None,
    )
    return watcher.sweep()


@pytest.mark.parametrize("before", [True, False], ids=["before it is remembered", "after it is remembered"])
def test_whatever_the_server_loses_it_is_told_again_of_what_it_no_longer_knows(
    container: Container, directory: Path, tmp_path: Path, *, before: bool
) -> None:
    path = tmp_path / "s.txt"
    path.write_text("User: I live in Berlin.\n\nAssistant: I will remember that.\n")
    os.utime(path, (time.time() - HOUR, time.time() - HOUR))
    watched = Struck(container.client, StoreKeys(), bus_keys=BusKeys())
    watched.before, watched.cut = before, PowerCut(directory)
    container.client.set("nous:synced", "")
    watched.cut.mark()

    struck = sweep(container, tmp_path, watched)
    watched.cut = None

    assert container.client.xlen(BusKeys().stream("session_ended", Priority.LIVE)) == 0
    assert struck.fates[FileOutcome.PUT_OFF if before else FileOutcome.HANDED_OVER] == 1
    assert sweep(container, tmp_path, watched).fates[FileOutcome.HANDED_OVER] == 1
    assert container.client.xlen(BusKeys().stream("session_ended", Priority.LIVE)) == 1
    assert sweep(container, tmp_path, watched).fates[FileOutcome.KNOWN] == 1
