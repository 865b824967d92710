"""How long a provider that fails is left alone, and who goes first afterwards.

Pure: a record and the time in, the next record out. Times are seconds since the epoch, durations are seconds. The
scripts `enter.lua` and `failed.lua` decide the same in Redis; a contract test compares them.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from nous.llm.base import Failure
from nous.llm.state import Pause

GLANCE = 2.0
"""Seconds until somebody who waits for a probe looks again: mostly it is over long before it has to be."""


class Course(NamedTuple):
    """Pauses after one kind of failure: each is twice the last, at least `first` and at most `cap` seconds.

    Before the failure in a row that `begins` says there is none.
    """

    first: float
    cap: float
    begins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """How long providers are left alone, in seconds: a first pause, doubled by each that follows, up to a cap.

    Timeouts make a pause from the `timeouts`-th failure in a row on. `longest` bounds what a provider asks for itself.
    """

    first: float = 1.0
    cap: float = 60.0
    quota_first: float = 30.0
    quota_cap: float = 15 * 60.0
    timeouts: int = 3
    longest: float = 24 * 3600.0

    def after(self, failure: Failure) -> Course:
        match failure:
            case Failure.QUOTA:
                return Course(self.quota_first, self.quota_cap, begins=1)
            case Failure.TIMEOUT:
                return Course(self.first, self.cap, begins=self.timeouts)
            case _:
                return Course(self.first, self.cap, begins=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """What is known of a provider that has not answered since it failed.

    `length` is the last pause that we chose ourselves, to be doubled. A time that is 0 has not come about: there was no
    pause yet, or nobody goes first to see.
    """

    since: float
    failure: Failure
    failures: int
    pause_ends: float = 0.0
    length: float = 0.0
    probe_ends: float = 0.0

    def pause(self, *, until: float | None = None) -> Pause:
        """As a pause until the given time, or until its own; one that never was is over since the first failure."""
        ends = until or self.pause_ends or self.since
        return Pause(until=_date(ends), since=_date(self.since), failure=self.failure, failures=self.failures)


class Entered(NamedTuple):
    """The record after somebody asked to call, and the pause that keeps them from it."""

    outage: Outage | None
    pause: Pause | None


def entered(outage: Outage | None, *, probe: float, now: float) -> Entered:
    """Let a caller in, or not. The first one after a pause goes alone for *probe* seconds."""
    if outage is None or not outage.pause_ends:
        return Entered(outage, None)
    if now < outage.pause_ends:
        return Entered(outage, outage.pause())
    if now < outage.probe_ends:
        return Entered(outage, outage.pause(until=min(outage.probe_ends, now + GLANCE)))
    return Entered(replace(outage, probe_ends=now + probe), None)


def failed(
    outage: Outage | None, failure: Failure, *, until: float | None, now: float, pauses: Pauses
) -> tuple[Outage, Pause | None]:
    """Note a failure. Returns the next record, and the pause that is in force then.

    *until* is what the provider has asked for; a time that is over asks for nothing.
    """
    given = min(until, now + pauses.longest) if until is not None and until > now else 0.0
    if outage is None:
        outage = Outage(since=now, failure=failure, failures=0)
    if now < outage.pause_ends:
        after = replace(outage, failure=failure, pause_ends=given) if given > outage.pause_ends else outage
    else:
        after = _counted(outage, failure, given=given, now=now, course=pauses.after(failure))
    return after, after.pause() if now < after.pause_ends else None


def _counted(outage: Outage, failure: Failure, *, given: float, now: float, course: Course) -> Outage:
    counted = replace(outage, failure=failure, failures=outage.failures + 1, probe_ends=0.0)
    if given:
        return replace(counted, pause_ends=given)
    if counted.failures < course.begins:
        return counted
    length = max(course.first, min(2 * outage.length, course.cap))
    return replace(counted, length=length, pause_ends=now + length)


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
