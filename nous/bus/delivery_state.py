"""Delivery state machine, retry policy and failure history. All functions are pure.

A failure is stored as a line of its own and not in the state: states are compared byte by byte, by older releases too.
"""

import random
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

import orjson

from nous.domain import record_codec
from nous.domain.errors import Misconfigured


class DeliveryStatus(StrEnum):
    """Status of an attempt: its job is queued, its handler runs, or it waits for a retry."""

    QUEUED = "offered"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryState:
    """State of one delivery: attempt, status and failure counters.

    *attempt* counts submissions, *errors* the failures that used up an attempt, *crashes* the leases that ended during
    a run. *deaths* counts processes that died in quarantine while their parent lived: only then the event itself is the
    cause. *by* is a random name by which the process that runs the attempt recognizes its own claim.
    """

    attempt: int = 1
    state: DeliveryStatus = DeliveryStatus.QUEUED
    errors: int = 0
    crashes: int = 0
    deaths: int = 0
    reason: str = ""
    by: str = ""

    def encode(self) -> bytes:
        """Encode as JSON, compared byte by byte; an empty `by` is left out, as older releases do."""
        return orjson.dumps({name: value for name, value in asdict(self).items() if value or name != "by"})

    @classmethod
    def decode(cls, raw: bytes) -> "DeliveryState":
        """Decode; ignore newer fields. What cannot be read becomes a first attempt that waits."""
        try:
            return record_codec.decode(cls, raw)
        except Misconfigured:
            return cls(state=DeliveryStatus.WAITING, reason="its state could not be read: another program wrote it")

    @classmethod
    def redriven(cls, attempts: int) -> "DeliveryState":
        """Return the state after a redrive. Attempt numbers go on, so each attempt has its own job."""
        return cls(attempt=attempts, state=DeliveryStatus.WAITING, reason="it was redriven")

    @property
    def in_words(self) -> str:
        errors = (
            f", {self.errors} error{'' if self.errors == 1 else 's'}" if self.state is DeliveryStatus.WAITING else ""
        )
        return f"attempt {self.attempt} is {self.state}{errors}" + (f" ({self.reason})" if self.reason else "")

    def next_try(self, lease_ends: float | None) -> datetime | None:
        """Return when a waiting delivery is retried; *lease_ends* is in seconds since the epoch."""
        if self.state is not DeliveryStatus.WAITING or lease_ends is None:
            return None
        return datetime.fromtimestamp(lease_ends, tz=UTC)

    def queues(self, attempt: int) -> bool:
        return self.state is DeliveryStatus.QUEUED and self.attempt == attempt

    def begun(self, by: str = "") -> "DeliveryState":
        return replace(self, state=DeliveryStatus.RUNNING, by=by)

    def failed(self, reason: str) -> "DeliveryState":
        return replace(self, state=DeliveryStatus.WAITING, errors=self.errors + 1, reason=reason)

    def put_off(self, reason: str) -> "DeliveryState":
        return replace(self, state=DeliveryStatus.WAITING, reason=reason)

    def died(self, reason: str) -> "DeliveryState":
        return replace(
            self, state=DeliveryStatus.WAITING, crashes=self.crashes + 1, deaths=self.deaths + 1, reason=reason
        )

    def resubmitted(self) -> "DeliveryState":
        """Return the next attempt; an attempt that is still running counts as crashed."""
        crashed = self.state is DeliveryStatus.RUNNING
        return replace(
            self,
            attempt=self.attempt + 1,
            state=DeliveryStatus.QUEUED,
            crashes=self.crashes + crashed,
            by="",
            reason="its process died or stalled" if crashed else self.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Retry limits, lease length and backoff. Times are in seconds."""

    lease: float = 60.0
    max_attempts: int = 5
    backoff_base: float = 1.0
    backoff_cap: float = 300.0
    crashes_before_quarantine: int = 2
    deaths_before_dead_letter: int = 2

    def is_exhausted(self, progress: DeliveryState) -> bool:
        return progress.errors >= self.max_attempts or progress.deaths >= self.deaths_before_dead_letter

    def backoff(self, progress: DeliveryState, event_id: UUID) -> float:
        """Return the delay before the next attempt: exponential backoff with jitter.

        It is between half and all of base * 2^(errors - 1), at most the cap. The jitter derives from the event id, so a
        re-run decides the same, and many events still spread out.
        """
        ceiling = min(self.backoff_cap, self.backoff_base * 2 ** max(progress.errors - 1, 0))
        jitter = random.Random(f"{event_id}/{progress.errors}").random()  # noqa: S311 (spreading load is no secret)
        return ceiling * (0.5 + jitter / 2)


MOST = 12  # failures kept per delivery, and jobs of its attempts; `prelude.lua` has the same number


class AttemptOutcome(StrEnum):
    """Outcome of an attempt. FAILED alone uses one up; CRASHED may be a neighbour's fault."""

    FAILED = "failed"
    PUT_OFF = "put off"
    CRASHED = "crashed"
    KILLED = "killed its process"
    LOST = "lost its job"
    REDRIVEN = "redriven"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailure:
    """One failed attempt. The bus that stores it sets *at*."""

    fate: AttemptOutcome
    attempt: int = 0
    text: str = ""
    place: str = ""
    at: datetime | None = None

    def encode(self) -> str:
        """Encode as one line of JSON; the bus stores the time before it."""
        values = {"fate": self.fate, "attempt": self.attempt, "text": self.text, "place": self.place}
        return orjson.dumps({name: value for name, value in values.items() if value}).decode()


def history_of(lines: str) -> tuple[AttemptFailure, ...]:
    """Parse stored failures, oldest first; skip lines that this release cannot read."""
    return tuple(found for line in lines.splitlines() if (found := _read(line)))


def _read(line: str) -> AttemptFailure | None:
    milliseconds, _, record = line.partition(" ")
    try:
        at = datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC)
        return replace(record_codec.decode(AttemptFailure, record.encode()), at=at)
    except (Misconfigured, ValueError, OverflowError, OSError):
        return None
