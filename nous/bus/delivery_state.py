"""How far a group has come with one delivery, and what follows from each thing that can happen to it. All pure.

Each is a line of its own, and no part of the progress: that is compared byte by byte, by older releases too.
"""

import random
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, cast
from uuid import UUID

import orjson

UNREADABLE = "how far it came could not be read"
"""The reason of progress that somebody else wrote."""


class State(StrEnum):
    """OFFERED: a job was or is being submitted. RUNNING: a handler has begun. WAITING: until its lease ends."""

    OFFERED = "offered"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """*attempt* counts submissions, *errors* the failures that cost one, *crashes* the leases that ended in mid-run.

    *deaths* counts processes that died in quarantine while their parent lived: only then the event itself is to blame.
    *by* is the name that whoever runs it has made up, so as to be recognised.
    """

    attempt: int = 1
    state: State = State.OFFERED
    errors: int = 0
    crashes: int = 0
    deaths: int = 0
    reason: str = ""
    by: str = ""

    def encode(self) -> bytes:
        """As JSON, compared byte by byte with what is stored: a release that knows no `by` writes the same."""
        return orjson.dumps({name: value for name in _names() if (value := getattr(self, name)) or name != "by"})

    @classmethod
    def decode(cls, raw: bytes) -> "Progress":
        """Read what `encode` wrote; what a later release has added is passed over.

        Of what nobody of ours wrote, or of a state that is not known, the number of the attempt is left, if it tells
        one: it is to be tried again.
        """
        try:
            told: object = orjson.loads(raw)
        except orjson.JSONDecodeError:
            told = None
        found = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
        known: dict[str, Any] = {name: found[name] for name in _names() if isinstance(found.get(name), _types()[name])}
        try:
            known["state"] = State(found["state"])
            return cls(**known)
        except (KeyError, ValueError):
            return cls(attempt=known.get("attempt", 1), state=State.WAITING, reason=UNREADABLE)

    @classmethod
    def redriven(cls, attempts: int) -> "Progress":
        """A fresh start after *attempts* attempts; their numbers are not used again, so each keeps its own job."""
        return cls(attempt=attempts, state=State.WAITING, reason="it was redriven")

    @property
    def in_words(self) -> str:
        errors = f", {self.errors} error{'' if self.errors == 1 else 's'}" if self.state is State.WAITING else ""
        return f"attempt {self.attempt} is {self.state}{errors}" + (f" ({self.reason})" if self.reason else "")

    def next_try(self, lease_ends: float | None) -> datetime | None:
        """When it is tried again, if it waits for that; a lease ends so many seconds after the epoch."""
        if self.state is not State.WAITING or lease_ends is None:
            return None
        return datetime.fromtimestamp(lease_ends, tz=UTC)

    def offers(self, attempt: int) -> bool:
        """Whether that attempt was offered and nobody has begun it."""
        return self.state is State.OFFERED and self.attempt == attempt

    def begun(self, by: str = "") -> "Progress":
        return replace(self, state=State.RUNNING, by=by)

    def failed(self, reason: str) -> "Progress":
        return replace(self, state=State.WAITING, errors=self.errors + 1, reason=reason)

    def put_off(self, reason: str) -> "Progress":
        return replace(self, state=State.WAITING, reason=reason)

    def died(self, reason: str) -> "Progress":
        return replace(self, state=State.WAITING, crashes=self.crashes + 1, deaths=self.deaths + 1, reason=reason)

    def resubmitted(self) -> "Progress":
        """The next attempt. Whoever was running this one, and has not been heard of, is taken for dead."""
        crashed = self.state is State.RUNNING
        return replace(
            self,
            attempt=self.attempt + 1,
            state=State.OFFERED,
            crashes=self.crashes + crashed,
            by="",
            reason="its process died or stalled" if crashed else self.reason,
        )


@cache
def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Progress))


@cache
def _types() -> dict[str, type]:
    """What each field is as JSON."""
    return {name: type(getattr(Progress(), name)) for name in _names()} | {"state": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often to try, and how long to wait in between. Times are in seconds."""

    lease: float = 60.0
    max_attempts: int = 5
    backoff_base: float = 1.0
    backoff_cap: float = 300.0
    crashes_before_quarantine: int = 2
    deaths_before_burial: int = 2

    def is_exhausted(self, progress: Progress) -> bool:
        return progress.errors >= self.max_attempts or progress.deaths >= self.deaths_before_burial

    def wants_quarantine(self, progress: Progress) -> bool:
        return progress.crashes >= self.crashes_before_quarantine

    def backoff(self, progress: Progress, event_id: UUID) -> float:
        """Exponential with full jitter: between half and all of base * 2^(errors - 1), at most the cap.

        The jitter derives from the event, so that a re-run decides the same and a crowd still spreads.
        """
        ceiling = min(self.backoff_cap, self.backoff_base * 2 ** max(progress.errors - 1, 0))
        jitter = random.Random(f"{event_id}/{progress.errors}").random()  # noqa: S311 (spreading load is no secret)
        return ceiling * (0.5 + jitter / 2)


MOST = 12
"""Mishaps that are kept of one delivery, and jobs of its attempts; so many in `prelude.lua`, too."""


class Fate(StrEnum):
    """What became of an attempt. Only FAILED costs one; CRASHED may be a neighbour's fault, KILLED is its own."""

    FAILED = "failed"
    PUT_OFF = "put off"
    CRASHED = "crashed"
    KILLED = "killed its process"
    LOST = "lost its job"
    REDRIVEN = "redriven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """One of them: at which attempt, why in words, and in which line of whose code. *at* is told by whoever keeps it.

    The last *times* attempts came to the same, where it is more than one.
    """

    fate: Fate
    attempt: int
    text: str = ""
    place: str = ""
    at: datetime | None = None
    times: int = 1

    def encode(self) -> str:
        """As one line; when that was goes before it."""
        told = {"fate": self.fate, "attempt": self.attempt, "text": self.text, "place": self.place}
        return orjson.dumps({name: value for name, value in told.items() if value}).decode()

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.fate, self.text, self.place


def noted(history: tuple[Mishap, ...], mishap: Mishap | None, at: datetime) -> tuple[Mishap, ...]:
    """*history* with what went wrong at last, if anything did."""
    return (*history, replace(mishap, at=at))[-MOST:] if mishap else history


def history_of(lines: str) -> tuple[Mishap, ...]:
    """The mishaps that were kept, oldest first; a line that says nothing to this release is passed over."""
    return tuple(found for line in lines.splitlines() if (found := _read(line)))


def gathered(history: tuple[Mishap, ...]) -> tuple[Mishap, ...]:
    """Those that came to the same one after the other as one, which tells of the last."""
    found: list[Mishap] = []
    for mishap in history:
        if found and found[-1].kind == mishap.kind:
            found[-1] = replace(mishap, times=found[-1].times + 1)
        else:
            found.append(mishap)
    return tuple(found)


def _read(line: str) -> Mishap | None:
    milliseconds, _, told = line.partition(" ")
    try:
        known: dict[str, Any] = orjson.loads(told)
        return Mishap(
            fate=Fate(known["fate"]),
            attempt=int(known.get("attempt", 0)),
            text=str(known.get("text", "")),
            place=str(known.get("place", "")),
            at=datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError):
        return None
