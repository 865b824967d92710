"""What is to be done about a file that may hold a session, and what a sweep has come to."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from nous.bus.base import Lane
from nous.redaction.error_text import redacted
from nous.store.folder_state import Remembered

_DAY = 86400.0
"""How far clocks may differ, and for how long a session is one of today, in seconds."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file: its size in bytes, and when it was written last.

    `changed_ns` is when anything about it changed. Both are in nanoseconds since the epoch.
    """

    path: Path
    size: int
    mtime_ns: int
    changed_ns: int = 0

    def age(self, now: float) -> float:
        """For how many seconds nobody had written to it at *now*, in seconds since the epoch."""
        return now - self.mtime_ns / 1e9

    def told(self) -> Remembered:
        """What to remember of it as it was found: what is written to it meanwhile is seen by the next sweep."""
        return Remembered(self.size, self.mtime_ns)

    def refused(self, why: str, *, release: str) -> Remembered:
        """The same, of one that *release* cannot hand over; the reason is redacted, and does not name the file.

        What a file is called may tell a session that is forgotten later.
        """
        for name in (str(self.path), self.path.name):
            why = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "this file", why)
        return Remembered(self.size, self.mtime_ns, redacted(why), self.changed_ns, release)

    def is_refused_as(self, remembered: Remembered) -> bool:
        """Whether *remembered* tells of a refusal, by whichever release, of the file as it stands."""
        stood = remembered.size, remembered.mtime_ns, remembered.changed_ns
        return remembered.refused is not None and stood == (self.size, self.mtime_ns, self.changed_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A session is over when its file was not written for *idle*, and past after *since*; both in seconds.

    What another *release* of nous has refused is looked at again: it may read what that could not.
    """

    idle: float
    since: float
    release: str = ""


class Verdict(StrEnum):
    """What a file is to a sweep."""

    OVER = "over"
    GOING = "still going"
    PAST = "past"
    KNOWN = "known"
    REFUSED_BEFORE = "refused before"


def decide(found: Found, remembered: Remembered | None, now: float, *, rules: Rules) -> Verdict:
    """What the file is, by its time and size alone. *now* is in seconds since the epoch.

    One that is *remembered* as it stands is not looked at again, however old it has become. A time further in the
    future than clocks differ tells nothing, so that one is over.
    """
    if remembered == found.told():
        return Verdict.KNOWN
    if remembered and remembered.release == rules.release and found.is_refused_as(remembered):
        return Verdict.REFUSED_BEFORE
    age = found.age(now)
    if -_DAY <= age < rules.idle:
        return Verdict.GOING
    return Verdict.PAST if age > rules.since else Verdict.OVER


def lane_of(found: Found, now: float) -> Lane:
    """Sessions of today are live, as if a hook had told of them; older ones come behind whatever ends now.

    So a watcher that was away for a night makes good what it missed, and a first sweep of a month delays nobody.
    """
    return Lane.LIVE if found.age(now) <= _DAY else Lane.BULK


class Fate(StrEnum):
    """What became of a file in a sweep. `PUT_OFF` means that it could not be dealt with, and is looked at again."""

    HANDED_OVER = "handed over"
    KNOWN = "known"
    GOING = "still going"
    PAST = "past"
    REFUSED = "refused"
    REFUSED_BEFORE = "refused before"
    PUT_OFF = "put off"


AT_ONCE = {
    Verdict.GOING: Fate.GOING,
    Verdict.PAST: Fate.PAST,
    Verdict.KNOWN: Fate.KNOWN,
    Verdict.REFUSED_BEFORE: Fate.REFUSED_BEFORE,
}
"""What becomes of files that nobody has to read."""

_ALWAYS_TOLD = (Fate.HANDED_OVER, Fate.KNOWN, Fate.GOING, Fate.PAST, Fate.REFUSED)


@dataclass(frozen=True, slots=True)
class Sent:
    """A session that was handed over: its id, the event that tells of it, and whether nobody had said that before."""

    session_id: str
    event_id: UUID
    is_new: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file that was to be handed over: *why*, for whoever looks now, and what to *remember* of it.

    One that is not remembered is looked at again. *is_defect* says that nous is at fault, and not the file.
    """

    fate: Fate
    why: str = ""
    remember: Remembered | None = None
    is_defect: bool = False


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A file whose sessions were handed over, by their ids."""

    path: Path
    lane: Lane
    sessions: tuple[str, ...]


@dataclass(slots=True)
class Sweep:
    """What became of every file that was seen. Folders that could not be read are told apart, as no files."""

    fates: Counter[Fate] = field(default_factory=Counter[Fate])
    handed_over: list[HandedOver] = field(default_factory=list[HandedOver])
    refused: dict[Path, str] = field(default_factory=dict[Path, str])
    refused_before: dict[Path, str] = field(default_factory=dict[Path, str])
    put_off: dict[Path, str] = field(default_factory=dict[Path, str])
    unreadable: dict[Path, str] = field(default_factory=dict[Path, str])
    defects: set[Path] = field(default_factory=set[Path])

    def add(self, path: Path, outcome: Outcome) -> None:
        """Count what became of a file, and keep why it was not handed over."""
        self.fates[outcome.fate] += 1
        if outcome.fate is Fate.REFUSED:
            self.refused[path] = outcome.why
        if outcome.fate is Fate.PUT_OFF:
            self.put_off[path] = outcome.why
        if outcome.is_defect:
            self.defects.add(path)

    @property
    def seen(self) -> int:
        return self.fates.total()

    @property
    def has_news(self) -> bool:
        """Whether there is something to tell of it beyond how many files there are."""
        # What nous stumbles over is logged by itself, and then put off again and again.
        is_put_off = len(self.defects) < self.fates[Fate.PUT_OFF]
        return is_put_off or any(self.fates[fate] for fate in (Fate.HANDED_OVER, Fate.REFUSED))

    def __str__(self) -> str:
        return f"{self.seen} seen: {', '.join(self._told())}"

    def _told(self) -> Iterator[str]:
        for fate in Fate:
            if self.fates[fate] or fate in _ALWAYS_TOLD:
                yield f"{self.fates[fate]} {fate}"
