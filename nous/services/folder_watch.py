"""Poll transcript folders; publish sessions idle long enough; record which were published."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import ClassVar

import structlog
from typing_extensions import override

from nous.backoff import PeriodicTask
from nous.bus.base import Priority
from nous.bus.erasure import FORGOTTEN, WasForgotten
from nous.domain.errors import BadInput, NotFound, NousError, Retryable
from nous.redaction.error_text import folded, redacted, said, traced
from nous.services.publisher import Published
from nous.store.redis.transcripts import FileRecord, RedisFolderState, WatchedFolder, name_of
from nous.transcript.discovery import below, parts_of_sessions

_DAY = 86400.0  # seconds by which clocks may differ, and up to which age a session has live priority
_MOST_LOGGED = 20  # limit of refused files that are logged by name in one sweep
_LOST = "the server no longer knows the events published for it; it is published again"

log = structlog.get_logger(__name__)


class FileOutcome(StrEnum):
    """Outcome of a file in a sweep; PUT_OFF means that it is examined again."""

    HANDED_OVER = "handed over"
    KNOWN = "known"
    GOING = "still going"
    PAST = "past"
    REFUSED = "refused"
    REFUSED_BEFORE = "refused before"
    PUT_OFF = "put off"


def decide(
    found: FileRecord, remembered: FileRecord | None, age: float, *, idle: float, since: float, after: float = 0.0
) -> FileOutcome | None:
    """Classify a file by time, size and record alone: None if it has to be published.

    *age* is in seconds since the last write. A session is over after *idle* seconds. It is past after *since*, or if it
    was not written since the time *after* (in seconds since the epoch). An unchanged file with a record is not examined
    again. An mtime further ahead than clocks differ carries no information, so such a file is over.
    """
    if remembered in (found, replace(found, refused=True)):
        return FileOutcome.REFUSED_BEFORE if remembered.refused else FileOutcome.KNOWN
    if -_DAY <= age < idle:
        return FileOutcome.GOING
    return FileOutcome.PAST if age > since or found.mtime_ns < after * 1e9 else None


SUBMITTED = "submitted"
_ALWAYS_SHOWN = {
    FileOutcome.HANDED_OVER: SUBMITTED,
    FileOutcome.KNOWN: "known",
    FileOutcome.GOING: "still active",
    FileOutcome.PAST: "too old",
    FileOutcome.REFUSED: "refused",
}
"""Words for outcomes that are counted even where there is none; others are shown by their value."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    path: Path
    priority: Priority
    sessions: tuple[str, ...]


@dataclass(slots=True)
class SweepReport:
    """Outcome of every file of a sweep; unreadable folders are listed apart."""

    fates: Counter[FileOutcome] = field(default_factory=Counter[FileOutcome])
    handed_over: list[PublishedFile] = field(default_factory=list[PublishedFile])
    refused: dict[Path, str] = field(default_factory=dict[Path, str])
    put_off: dict[Path, str] = field(default_factory=dict[Path, str])
    unreadable: dict[Path, str] = field(default_factory=dict[Path, str])

    @property
    def seen(self) -> int:
        return self.fates.total()

    def __str__(self) -> str:
        shown = (fate for fate in FileOutcome if self.fates[fate] or fate in _ALWAYS_SHOWN)
        counts = (f"{self.fates[fate]} {_ALWAYS_SHOWN.get(fate, fate)}" for fate in shown)
        return f"{self.seen} seen: {', '.join(counts)}"


PublishFile = Callable[[Path, Priority], Iterable[Published]]
"""Yields the sessions in a file, each once it is published; raises as `Producer.publish`."""

Found = tuple[Path, FileRecord]
"""A file, and its record once it is published. A later write changes size or mtime."""

Progress = Callable[[Sequence[Found]], Iterable[Found]]
"""Passes on the files of a sweep, and may show how far it is."""

Told = Callable[[SweepReport], object]
"""Callback for each completed sweep."""


@dataclass(eq=False)
class FolderWatcher(PeriodicTask):
    """Poller that sweeps *places* every *interval* seconds, by the rules of `decide`.

    Any number of processes may sweep the same folders. A file is recorded in *watched* after it was published, never
    before, and only while the server knows all its events. So nothing is lost if the watcher or the server is killed at
    any moment, and duplicate events are deduplicated. Without *hand_over* it only reports what it would publish, and
    records nothing.
    """

    name: ClassVar[str] = "folder_watch"

    places: Sequence[WatchedFolder]
    _: KW_ONLY
    watched: RedisFolderState
    hand_over: PublishFile | None
    idle: float
    since: float
    after: float = 0.0
    clock: Callable[[], float]
    told: Told
    progress: Progress = iter

    @override
    def run_once(self) -> float:
        self.told(self.sweep())
        return self.interval

    def sweep(self) -> SweepReport:
        """Publish sessions that are over and not known, latest end first.

        A file that lies in two folders counts for the first. Raises `Retryable` or `Misconfigured` if the server takes
        nothing; what was published before that is recorded.
        """
        sweep, seen = SweepReport(), set[Path]()
        for place in self.places:
            if not self._stopping.is_set():
                self._sweep(place, sweep, seen)
        return sweep

    def _sweep(self, place: WatchedFolder, sweep: SweepReport, seen: set[Path]) -> None:
        # Records are read before the folder: a file that another watcher records meanwhile is not taken for deleted.
        known, before = self.watched.recall(place), len(sweep.unreadable)
        names: set[str] = set()
        over: list[Found] = []
        for path, found in _found(place.folder, sweep, seen):
            name = name_of(path)
            limits = {"idle": self.idle, "since": self.since, "after": self.after}
            outcome = decide(found, known.get(name), self._age(found), **limits)
            # The record of a past file is of no use: it describes an earlier state of the file.
            if outcome is not FileOutcome.PAST:
                names.add(name)
            if outcome is None:
                over.append((path, found))
                continue
            sweep.fates[outcome] += 1
        for path, found in self.progress(sorted(over, key=lambda each: -each[1].mtime_ns)):
            if self._stopping.is_set():
                return
            self._take(path, found, place, sweep)
        is_whole = len(sweep.unreadable) == before
        if self.hand_over:
            self.watched.keep(place, without=known.keys() - names if is_whole else ())

    def _age(self, found: FileRecord) -> float:
        return self.clock() - found.mtime_ns / 1e9

    def _take(self, path: Path, found: FileRecord, place: WatchedFolder, sweep: SweepReport) -> None:
        # So that no current session waits for old ones.
        priority = Priority.LIVE if self._age(found) <= _DAY else Priority.BULK
        sent, outcome, why = list[Published](), FileOutcome.HANDED_OVER, ""
        if self.hand_over:
            outcome, why = self._published(path, place, self.hand_over(path, priority), sent)
            # Without the reason, which may quote content.
            record = replace(found, refused=outcome is FileOutcome.REFUSED)
            events = [each.event.id for each in sent]
            if outcome is not FileOutcome.PUT_OFF and not self.watched.remember(
                place, name_of(path), record, after=events
            ):
                log.warning("folder_watch.events_lost", path=str(path), reason=_LOST)
                outcome, why = FileOutcome.PUT_OFF, _LOST
        sweep.fates[outcome] += 1
        match outcome:
            case FileOutcome.HANDED_OVER:
                sessions = tuple(each.event.session_id for each in sent)
                sweep.handed_over.append(PublishedFile(path, priority, sessions))
            case FileOutcome.REFUSED:
                sweep.refused[path] = why
            case FileOutcome.PUT_OFF:
                sweep.put_off[path] = why
            case _:
                pass

    def _published(
        self, path: Path, place: WatchedFolder, sessions: Iterable[Published], sent: list[Published]
    ) -> tuple[FileOutcome, str]:
        """Publish *sessions*, add each to *sent*; return the outcome, of an error too, and why."""
        try:
            # extend() keeps the sessions that were published before an error.
            sent.extend(sessions)
        except (NotFound, Retryable, OSError, MemoryError) as error:
            self.watched.keep(place)  # raises if the server, and not the file, is unavailable
            return FileOutcome.PUT_OFF, str(error)
        except WasForgotten:
            return FileOutcome.REFUSED, FORGOTTEN
        except BadInput as error:
            return FileOutcome.REFUSED, str(error).removeprefix(f"{path} ").removeprefix(f"{path}: ")
        except NousError:
            raise
        except Exception as error:  # noqa: BLE001 (a defect of nous stops no other file)
            trace = "\n".join(folded(traced(error)))
            log.error("folder_watch.file_failed", path=str(path), error=said(error), traceback=trace)  # noqa: TRY400
            return FileOutcome.REFUSED, f"a defect in nous: {said(error)}"
        is_news = any(each.receipt.fresh for each in sent)
        return (FileOutcome.HANDED_OVER if is_news else FileOutcome.KNOWN), ""


class SweepLog:
    """Logger of sweeps, at info level if there is news, and of unreadable paths once each."""

    def __init__(self) -> None:
        self._logged: set[Path] = set()

    def __call__(self, sweep: SweepReport) -> None:
        write = log.info if sweep.handed_over or sweep.refused or sweep.put_off else log.debug
        write(
            "folder_watch.swept", seen=sweep.seen, **{fate.replace(" ", "_"): sweep.fates[fate] for fate in FileOutcome}
        )
        for path, reason in islice(sweep.refused.items(), _MOST_LOGGED):
            log.warning("folder_watch.file_refused", path=str(path), reason=redacted(reason), hint="logged once")
        for path in sweep.unreadable.keys() - self._logged:
            log.warning("folder_watch.unreadable", path=str(path), reason=sweep.unreadable[path])
        self._logged.update(sweep.unreadable)


def _found(folder: Path, sweep: SweepReport, seen: set[Path]) -> Iterator[Found]:
    """Yield each regular file in *folder* once, or *folder* itself if it is a file."""
    is_file = os.path.isfile(folder)  # noqa: PTH113 (Path.is_file raises where a parent may not be searched)
    files = [folder] if is_file else below(folder, sweep.unreadable.__setitem__, left_out=parts_of_sessions)
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
            yield own, FileRecord(status.st_size, status.st_mtime_ns)
