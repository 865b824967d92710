"""Pure rules of the folder watcher: which files to publish, and the report of a sweep."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from nous.bus.base import Priority
from nous.redaction.error_text import redacted
from nous.store.folder_state import FileRecord

_DAY = 86400.0
"""Seconds by which clocks may differ, and up to which age a session has live priority."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file with its size in bytes and the time of its last write.

    `changed_ns` is the time of its last change of any kind. Both times are in nanoseconds since the epoch.
    """

    path: Path
    size: int
    mtime_ns: int
    changed_ns: int = 0

    def age(self, now: float) -> float:
        """Return the seconds since the last write, at *now* in seconds since the epoch."""
        return now - self.mtime_ns / 1e9

    def told(self) -> FileRecord:
        """Return the record of the published file as it was found.

        A later write changes size or mtime, so the next sweep sees it.
        """
        return FileRecord(self.size, self.mtime_ns)

    def refused(self, why: str, *, release: str) -> FileRecord:
        """Return the record of a file that *release* cannot publish.

        The reason is redacted and does not contain the file's name, which may name a session that is erased later.
        """
        for name in (str(self.path), self.path.name):
            why = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "this file", why)
        return FileRecord(self.size, self.mtime_ns, redacted(why), self.changed_ns, release)

    def is_refused_as(self, remembered: FileRecord) -> bool:
        """Return whether *remembered* is a refusal, by any release, of the unchanged file."""
        stood = remembered.size, remembered.mtime_ns, remembered.changed_ns
        return remembered.refused is not None and stood == (self.size, self.mtime_ns, self.changed_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
    """Thresholds of the watcher.

    A session is over if its file was not written for *idle* seconds, and past after *since* seconds. A file that
    another *release* of nous has refused is examined again: this one may be able to read it.
    """

    idle: float
    since: float
    release: str = ""


class FileStatus(StrEnum):
    """Status of a file in a sweep, before it is read."""

    OVER = "over"
    GOING = "still going"
    PAST = "past"
    KNOWN = "known"
    REFUSED_BEFORE = "refused before"


def decide(found: SessionFile, remembered: FileRecord | None, now: float, *, rules: WatchRules) -> FileStatus:
    """Classify a file by time, size and record alone. *now* is in seconds since the epoch.

    An unchanged file with a record is not examined again, however old it has become. An mtime further in the future
    than clocks differ carries no information, so such a file is over.
    """
    if remembered == found.told():
        return FileStatus.KNOWN
    if remembered and remembered.release == rules.release and found.is_refused_as(remembered):
        return FileStatus.REFUSED_BEFORE
    age = found.age(now)
    if -_DAY <= age < rules.idle:
        return FileStatus.GOING
    return FileStatus.PAST if age > rules.since else FileStatus.OVER


def lane_of(found: SessionFile, now: float) -> Priority:
    """Return live priority for sessions of the last day, bulk priority for older ones.

    Sessions of the last day are treated as if a hook had reported them. So a watcher that was off for a night catches
    up, and a first sweep of a month delays no current session.
    """
    return Priority.LIVE if found.age(now) <= _DAY else Priority.BULK


class FileOutcome(StrEnum):
    """Outcome of a file in a sweep. `PUT_OFF` is temporary: the file is examined again."""

    HANDED_OVER = "handed over"
    KNOWN = "known"
    GOING = "still going"
    PAST = "past"
    REFUSED = "refused"
    REFUSED_BEFORE = "refused before"
    PUT_OFF = "put off"


AT_ONCE = {
    FileStatus.GOING: FileOutcome.GOING,
    FileStatus.PAST: FileOutcome.PAST,
    FileStatus.KNOWN: FileOutcome.KNOWN,
    FileStatus.REFUSED_BEFORE: FileOutcome.REFUSED_BEFORE,
}
"""Outcomes of files that need not be read, by status."""

_ALWAYS_SHOWN = (FileOutcome.HANDED_OVER, FileOutcome.KNOWN, FileOutcome.GOING, FileOutcome.PAST, FileOutcome.REFUSED)


@dataclass(frozen=True, slots=True)
class PublishedSession:
    """A published session, its event, and whether the event was new."""

    session_id: str
    event_id: UUID
    is_new: bool


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """Outcome of publishing a file: *why*, for display only, and the record to *remember*.

    Without a record the file is examined again. *is_defect* means that nous is at fault, and not the file.
    """

    fate: FileOutcome
    why: str = ""
    remember: FileRecord | None = None
    is_defect: bool = False


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file whose sessions were published, by their ids."""

    path: Path
    priority: Priority
    sessions: tuple[str, ...]


@dataclass(slots=True)
class SweepReport:
    """Outcome of every file of a sweep.

    Unreadable folders are listed apart and do not count as files.
    """

    fates: Counter[FileOutcome] = field(default_factory=Counter[FileOutcome])
    handed_over: list[PublishedFile] = field(default_factory=list[PublishedFile])
    refused: dict[Path, str] = field(default_factory=dict[Path, str])
    refused_before: dict[Path, str] = field(default_factory=dict[Path, str])
    put_off: dict[Path, str] = field(default_factory=dict[Path, str])
    unreadable: dict[Path, str] = field(default_factory=dict[Path, str])
    defects: set[Path] = field(default_factory=set[Path])

    def add(self, path: Path, outcome: PublishOutcome) -> None:
        """Count the outcome of a file, and keep the reason if it was not published."""
        self.fates[outcome.fate] += 1
        if outcome.fate is FileOutcome.REFUSED:
            self.refused[path] = outcome.why
        if outcome.fate is FileOutcome.PUT_OFF:
            self.put_off[path] = outcome.why
        if outcome.is_defect:
            self.defects.add(path)

    @property
    def seen(self) -> int:
        return self.fates.total()

    @property
    def has_news(self) -> bool:
        """Return whether the report says more than how many files there are."""
        # Defects are logged separately, and put off at every sweep.
        is_put_off = len(self.defects) < self.fates[FileOutcome.PUT_OFF]
        return is_put_off or any(self.fates[fate] for fate in (FileOutcome.HANDED_OVER, FileOutcome.REFUSED))

    def __str__(self) -> str:
        return f"{self.seen} seen: {', '.join(self._counts())}"

    def _counts(self) -> Iterator[str]:
        for fate in FileOutcome:
            if self.fates[fate] or fate in _ALWAYS_SHOWN:
                yield f"{self.fates[fate]} {fate}"
