"""Circuit-breaker state: open interval with exponential backoff, single half-open probe.

Pure functions: a record and the time in, the next record out. Times are seconds since the epoch, durations are
seconds. The scripts `admit.lua` and `record_failure.lua` decide the same in Redis; a contract test compares them.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from nous.llm.base import Failure
from nous.llm.state import OpenCircuit

GLANCE = 2.0
"""Seconds until a caller that waits for a probe checks again; most probes end long before their deadline."""


class BackoffCurve(NamedTuple):
    """Backoff for one kind of failure: intervals double from `first` up to `cap` seconds.

    The circuit stays closed until the failure in a row that `begins` numbers.
    """

    first: float
    cap: float
    begins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffPolicy:
    """Open intervals of the circuit, in seconds: a first one, doubled each time, up to a cap.

    Timeouts open the circuit from the `timeouts`-th failure in a row on. `longest` limits an interval that the provider
    asks for itself.
    """

    first: float = 1.0
    cap: float = 60.0
    quota_first: float = 30.0
    quota_cap: float = 15 * 60.0
    timeouts: int = 3
    longest: float = 24 * 3600.0

    def after(self, failure: Failure) -> BackoffCurve:
        match failure:
            case Failure.QUOTA:
                return BackoffCurve(self.quota_first, self.quota_cap, begins=1)
            case Failure.TIMEOUT:
                return BackoffCurve(self.first, self.cap, begins=self.timeouts)
            case _:
                return BackoffCurve(self.first, self.cap, begins=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitState:
    """Record of a provider that has not answered since it failed.

    `length` is the last interval from our own backoff, to be doubled. A time of 0 is unset: the circuit has not opened
    yet, or no probe is running.
    """

    since: float
    failure: Failure
    failures: int
    pause_ends: float = 0.0
    length: float = 0.0
    probe_ends: float = 0.0

    def pause(self, *, until: float | None = None) -> OpenCircuit:
        """Return the open circuit, until the given time or its own end.

        A circuit that never opened ends with the first failure.
        """
        ends = until or self.pause_ends or self.since
        return OpenCircuit(until=_date(ends), since=_date(self.since), failure=self.failure, failures=self.failures)


class Admission(NamedTuple):
    """The record after a request to call, and the open circuit that rejects it, if any."""

    outage: CircuitState | None
    pause: OpenCircuit | None


def admit(outage: CircuitState | None, *, probe: float, now: float) -> Admission:
    """Admit a caller or reject it. The first one after an open interval is the probe.

    The probe runs alone for at most *probe* seconds.
    """
    if outage is None or not outage.pause_ends:
        return Admission(outage, None)
    if now < outage.pause_ends:
        return Admission(outage, outage.pause())
    if now < outage.probe_ends:
        return Admission(outage, outage.pause(until=min(outage.probe_ends, now + GLANCE)))
    return Admission(replace(outage, probe_ends=now + probe), None)


def failed(
    outage: CircuitState | None, failure: Failure, *, until: float | None, now: float, pauses: BackoffPolicy
) -> tuple[CircuitState, OpenCircuit | None]:
    """Record a failure. Return the next record, and the open circuit that is now in force.

    *until* is the end that the provider asked for; a time in the past is ignored.
    """
    given = min(until, now + pauses.longest) if until is not None and until > now else 0.0
    if outage is None:
        outage = CircuitState(since=now, failure=failure, failures=0)
    if now < outage.pause_ends:
        after = replace(outage, failure=failure, pause_ends=given) if given > outage.pause_ends else outage
    else:
        after = _counted(outage, failure, given=given, now=now, curve=pauses.after(failure))
    return after, after.pause() if now < after.pause_ends else None


def _counted(outage: CircuitState, failure: Failure, *, given: float, now: float, curve: BackoffCurve) -> CircuitState:
    counted = replace(outage, failure=failure, failures=outage.failures + 1, probe_ends=0.0)
    if given:
        return replace(counted, pause_ends=given)
    if counted.failures < curve.begins:
        return counted
    length = max(curve.first, min(2 * outage.length, curve.cap))
    return replace(counted, length=length, pause_ends=now + length)


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
