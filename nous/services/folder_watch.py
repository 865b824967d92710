"""Polling watcher: publish ended sessions found in folders where agents keep transcripts."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

import structlog

from nous.bus.base import Priority
from nous.bus.tombstones import FORGOTTEN, WasForgotten
from nous.domain.errors import BadInput, NotFound, NousError, Retryable
from nous.redaction.error_text import redacted
from nous.redaction.tracebacks import folded, said, traced
from nous.services.folder_watch_rules import (
    AT_ONCE,
    FileOutcome,
    FileStatus,
    PublishedFile,
    PublishedSession,
    PublishOutcome,
    SessionFile,
    SweepReport,
    WatchRules,
    decide,
    lane_of,
)
from nous.store.folder_state import FileRecord, FolderState, WatchedFolder, name_of
from nous.transcript.detect import UnknownFormat
from nous.transcript.discovery import below, parts_of_sessions

_NO_TRANSCRIPT = "no transcript that nous can read"
_MOST_LOGGED = 20
"""Limit of refused files that are logged by name in one sweep."""
_RETRY_AFTER = 3600.0
"""Seconds until an unchanged file is retried that made nous fail: reading is costly, and each try is logged.

The wait is kept in memory, so a restarted process, such as a new release, retries at once.
"""
_LOST = "the server no longer knows the events published for it; it is published again"

log = structlog.get_logger(__name__)


class PublishFile(Protocol):
    """Callable that publishes the sessions of a file."""

    def __call__(self, path: Path, *, priority: Priority) -> Iterable[PublishedSession]:
        """Yield the sessions in the file, each once it is published.

        Raises as `nous.services.publisher.Producer.publish`.
        """
        ...


Told = Callable[[SweepReport], object]
"""Callback for each completed sweep."""


class FolderWatcher:
    """Poller that sweeps *places* every *interval* seconds until stopped.

    Any number of processes may sweep the same folders. The only durable state is the mtimes of the files and the
    records in *watched*. A file is recorded after it was published, never before, and only while the server knows all
    its events. So nothing is lost if the watcher or the server is killed at any moment, and duplicate events are
    deduplicated.
    """

    def __init__(
        self,
        places: Sequence[WatchedFolder],
        *,
        watched: FolderState,
        hand_over: PublishFile,
        rules: WatchRules,
        clock: Callable[[], float],
        interval: float,
        told: Told,
    ) -> None:
        self._places = places
        self._watched = watched
        self._hand_over = hand_over
        self._rules = rules
        self._clock = clock
        self._interval = interval
        self._on_sweep = told
        self._resting: dict[SessionFile, tuple[float, PublishOutcome]] = {}
        self._refused_here: dict[Path, SessionFile] = {}
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Sweep every *interval* seconds until `stop`."""
        while not self._stopping.is_set():
            try:
                self._on_sweep(self.sweep())
            except NousError as error:
                log.warning("folder_watch.sweep_incomplete", error=str(error), hint="retried at the next sweep")
            except Exception:  # the outermost loop: a watcher that dies leaves a process that looks healthy
                log.exception("folder_watch.error")
            self._stopping.wait(self._interval)

    def sweep(self) -> SweepReport:
        """Publish sessions that are over and not known, latest end first.

        A file that lies in two folders counts for the first.

        Raises:
            Retryable: the server took nothing; what was published before that is recorded.
            Misconfigured: the server never will.
        """
        self._resume()
        sweep, seen = SweepReport(), set[Path]()
        for place in self._places:
            if not self._stopping.is_set():
                self._sweep(place, sweep, seen)
        self._refused_here = {path: found for path, found in self._refused_here.items() if path in seen}
        return sweep

    def _sweep(self, place: WatchedFolder, sweep: SweepReport, seen: set[Path]) -> None:
        # Records are read before the folder: a file that another watcher records meanwhile is not taken for deleted.
        known, before = self._watched.recall(place), len(sweep.unreadable)
        names: set[str] = set()
        over: list[tuple[SessionFile, str]] = []
        for found in _found(place.folder, sweep, seen):
            name = name_of(found.path)
            verdict = self._verdict(found, known.get(name))
            # The record of a past file is of no use: it describes an earlier state of the file.
            if verdict is not FileStatus.PAST:
                names.add(name)
            if verdict is FileStatus.OVER:
                over.append((found, name))
                continue
            sweep.fates[AT_ONCE[verdict]] += 1
            if verdict is FileStatus.REFUSED_BEFORE:
                sweep.refused_before[found.path] = known[name].refused or ""
        for found, name in sorted(over, key=lambda each: -each[0].mtime_ns):
            if self._stopping.is_set():
                return
            self._take(found, name, place, sweep)
        is_whole = len(sweep.unreadable) == before
        self._watched.keep(place, without=known.keys() - names if is_whole else ())

    def _verdict(self, found: SessionFile, remembered: FileRecord | None) -> FileStatus:
        """Return what `decide` returns, but keep refusals of this process.

        A file that this process refused stays refused, even if another release has refused it since. Otherwise two
        releases side by side would read and log it in turn at every sweep.
        """
        verdict = decide(found, remembered, self._clock(), rules=self._rules)
        is_refused = remembered and found.is_refused_as(remembered) and self._refused_here.get(found.path) == found
        return FileStatus.REFUSED_BEFORE if verdict is FileStatus.OVER and is_refused else verdict

    def _take(self, found: SessionFile, name: str, place: WatchedFolder, sweep: SweepReport) -> None:
        """Publish a file that is over, and record its outcome."""
        priority, sent = lane_of(found, self._clock()), list[PublishedSession]()
        _, rested = self._resting.get(found, (0.0, None))
        outcome = rested or self._handed_over(found, place, priority, sent)
        after = [each.event_id for each in sent]
        if outcome.remember and not self._watched.remember(place, name, outcome.remember, after=after):
            log.warning("folder_watch.events_lost", path=str(found.path), reason=_LOST)
            outcome = PublishOutcome(FileOutcome.PUT_OFF, _LOST)
        sweep.add(found.path, outcome)
        if outcome.fate is FileOutcome.REFUSED:
            self._refused_here[found.path] = found
        if outcome.fate is FileOutcome.HANDED_OVER:
            sweep.handed_over.append(PublishedFile(found.path, priority, tuple(each.session_id for each in sent)))

    def _handed_over(
        self, found: SessionFile, place: WatchedFolder, priority: Priority, sent: list[PublishedSession]
    ) -> PublishOutcome:
        """Return the outcome of publishing a file; add each published session to *sent*.

        An error in one file does not stop the others.
        """
        try:
            # extend() keeps the sessions that were published before an error.
            sent.extend(self._hand_over(found.path, priority=priority))
        except NotFound as error:
            return PublishOutcome(FileOutcome.PUT_OFF, str(error))
        except WasForgotten:
            return self._refused(found, FORGOTTEN)
        except UnknownFormat as error:
            # Its message quotes the content: it may be shown now, but not stored.
            return self._refused(found, str(error), kept=_NO_TRANSCRIPT)
        except BadInput as error:
            return self._refused(found, str(error))
        except Retryable as error:
            self._watched.keep(place)  # raises if the server, and not the file, is unavailable
            return PublishOutcome(FileOutcome.PUT_OFF, str(error))
        except NousError:
            raise
        except Exception as error:  # noqa: BLE001 (the outermost call for one file: the others are still published)
            return self._failed(found, error)
        is_news = any(each.is_new for each in sent)
        return PublishOutcome(FileOutcome.HANDED_OVER if is_news else FileOutcome.KNOWN, remember=found.told())

    def _refused(self, found: SessionFile, why: str, *, kept: str | None = None) -> PublishOutcome:
        reason = why.removeprefix(f"{found.path} ").removeprefix(f"{found.path}: ")
        return PublishOutcome(FileOutcome.REFUSED, reason, found.refused(kept or reason, release=self._rules.release))

    def _failed(self, found: SessionFile, error: Exception) -> PublishOutcome:
        """Log a defect of nous, and do not retry the file for a while."""
        trace = "\n".join(folded(traced(error)))
        log.error("folder_watch.file_failed", path=str(found.path), error=said(error), traceback=trace)
        outcome = PublishOutcome(FileOutcome.PUT_OFF, f"a defect in nous: {said(error)}", is_defect=True)
        self._resting[found] = self._clock() + _RETRY_AFTER, outcome
        return outcome

    def _resume(self) -> None:
        """Allow files to be retried whose wait is over."""
        now = self._clock()
        self._resting = {each: rest for each, rest in self._resting.items() if now < rest[0] <= now + _RETRY_AFTER}


class SweepLog:
    """Logger of sweeps.

    A sweep with news is logged at info level, others at debug level. An unreadable path is logged once in the life of a
    process.
    """

    def __init__(self) -> None:
        self._logged: set[Path] = set()

    def __call__(self, sweep: SweepReport) -> None:
        write = log.info if sweep.has_news else log.debug
        write(
            "folder_watch.swept", seen=sweep.seen, **{fate.replace(" ", "_"): sweep.fates[fate] for fate in FileOutcome}
        )
        for path, reason in islice(sweep.refused.items(), _MOST_LOGGED):
            log.warning("folder_watch.file_refused", path=str(path), reason=redacted(reason), hint="logged once")
        for path in sweep.unreadable.keys() - self._logged:
            log.warning("folder_watch.unreadable", path=str(path), reason=sweep.unreadable[path])
        self._logged.update(sweep.unreadable)


def _found(folder: Path, sweep: SweepReport, seen: set[Path]) -> Iterator[SessionFile]:
    """Yield the regular files in *folder*, or *folder* if it is a file.

    Symlinks are resolved, and each file is yielded once.
    """
    files = [folder] if _is_file(folder) else below(folder, sweep.unreadable.__setitem__, left_out=parts_of_sessions)
    for path in files:
        try:
            own = path.resolve() if path.is_symlink() else path
            status = own.stat()
        except FileNotFoundError:  # deleted since its folder was read
            continue
        except OSError as error:
            sweep.unreadable[path] = f"it could not be read: {os.strerror(error.errno or 0)}"
            continue
        if own not in seen and S_ISREG(status.st_mode):
            seen.add(own)
            yield SessionFile(own, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
