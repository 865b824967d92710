"""Dead letters as people and programs are shown them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from typing import Any

from nous.bus.ledger import Letter
from nous.bus.mishaps import Mishap, gathered
from nous.cli.outline import envelope, payload, size_of
from nous.cli.show import counted, table
from nous.readable import one_line, shortened
from nous.runtime.tracing import folded, whole

_MANY = 10
"""More letters than that are told of in sum as well."""
_LONGEST = 100
_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")


def listed(letters: Sequence[Letter], *, most: int | None) -> Iterator[str]:
    """Sections for a list of *letters*, of which at most so many are shown."""
    if len(letters) > _MANY:
        yield table(("count", "what", "worker", "first", "last", "reason"), _totals(letters))
    shown = letters[:most]
    heads = ("id", "set aside", "what", "worker", "session", "attempts", "reason")
    yield table(heads, map(_row, shown))
    if len(shown) < len(letters):
        more = counted(len(letters) - len(shown), "more letter")
        yield f"{more}, newer than these, not shown: nous dead list --limit N, or --json"


def named(letter: Letter) -> str:
    """The letter in a few words."""
    return f"{letter.id} ({letter.group or 'of nobody known'}, session {letter.session_id or 'unknown'})"


def spelled(letter: Letter, event: bytes | int | None, *, is_full: bool) -> Iterator[str]:
    """Sections that tell all there is of one letter."""
    yield "\n".join(f"{name:<10} {one_line(value)}" for name, value in _facts(letter))
    if letter.history:
        rows = map(_mishap, gathered(letter.history))
        yield "what went wrong:\n" + table(("when", "attempt", "what", "where", "why"), rows)
    if letter.traceback:
        lines = whole(letter.traceback) if is_full else folded(letter.traceback)
        hint = "" if is_full else " (--full shows every frame)"
        yield "\n".join((f"traceback of the last error{hint}:", *lines))
    if event is None:
        yield "its event is gone: it cannot be redriven"
        return
    yield "\n".join(
        (f"event, {size_of(event):,} bytes:", *(f"  {name}: {value}" for name, value in envelope(event).items()))
    )
    yield "\n".join(("payload, without what it says:", *(f"  {line}" for line in payload(event))))


def as_object(letter: Letter, event: bytes | int | None) -> dict[str, Any]:
    """The same for programs; the traceback as lines, every frame of it."""
    told = None if event is None else {"bytes": size_of(event), **envelope(event), "payload": payload(event)}
    return {**asdict(letter), "traceback": list(whole(letter.traceback)), "event": told}


def _facts(letter: Letter) -> Iterator[tuple[str, str]]:
    yield "id", letter.id
    yield "what", letter.grave
    yield "worker", letter.group or "-"
    yield "reason", letter.reason
    yield "set aside", f"{_time(letter.at)}, after {counted(letter.attempts, 'attempt')}"
    yield "event", f"{letter.event_id or 'unknown'}, {letter.kind} {letter.lane}/{letter.entry}"
    yield "session", letter.session_id or "unknown"


def _row(letter: Letter) -> tuple[str, ...]:
    session = letter.session_id or "-"
    at = _time(letter.at)
    return letter.id, at, letter.grave, letter.group or "-", session, str(letter.attempts), letter.reason


def _totals(letters: Sequence[Letter]) -> Iterator[tuple[str, ...]]:
    """How many there are of each kind, the most first."""
    ordered = sorted(letters, key=_kind)
    groups = [(kind, list(group)) for kind, group in groupby(ordered, key=_kind)]
    for (grave, worker, reason), group in sorted(groups, key=lambda each: -len(each[1])):
        times = [letter.at for letter in group]
        yield f"{len(group):,}", grave, worker or "-", _time(min(times)), _time(max(times)), reason


def _kind(letter: Letter) -> tuple[str, str, str]:
    """What letters have in common that are alike: their reason without what differs from event to event."""
    return letter.grave, letter.group, shortened(_DETAIL.sub("…", letter.reason), _LONGEST)


def _mishap(mishap: Mishap) -> tuple[str, ...]:
    last, times = mishap.attempt, mishap.times
    attempts = str(last) if times == 1 else f"{last}, {times} times"
    return _time(mishap.at), attempts, mishap.fate, mishap.place or "-", mishap.text or "-"


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "-"
