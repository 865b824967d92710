"""What went wrong with a delivery, attempt by attempt: a line each, beside its progress, and then in its letter.

Each is a line of its own, and no part of the progress: that is compared byte by byte, by older releases too.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import orjson

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
