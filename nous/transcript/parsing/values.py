"""Type-check JSON values, with empty defaults; parse times; cut the middle of long texts."""

from datetime import UTC, datetime
from typing import Any, cast

import orjson

from nous.text.sanitize import boundary_after, boundary_before


def as_object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    return value if type(value) is int else 0  # a bool is an int, too


def parsed(text: bytes | str) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def as_arguments(value: object) -> dict[str, Any]:
    """Return the arguments of a call, an object or JSON; any other value under `arguments`."""
    given = parsed(value) if isinstance(value, str) else value
    if given is None and value != "null":
        given = value
    return as_object(given) or ({"arguments": given} if given else {})


def as_shown(value: object) -> str:
    """Return a result as text: a string unchanged, other values as indented JSON, None empty."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode(errors="replace")
    except TypeError:  # orjson reads deeper nesting than it writes
        return "(nested too deeply to be shown)"


_LAST_SECOND_COUNT = 100_000_000_000
"""Largest number read as seconds. Larger ones are milliseconds: as seconds they would be after the year 5000."""


def parse_time(value: object) -> datetime | None:
    """Parse ISO 8601 (UTC without a zone), epoch seconds or ms, as UTC; None for all else."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _LAST_SECOND_COUNT else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


_HEAD = 0.7


def cut(text: str, limit: int) -> str:
    """Return *text*, or its beginning and end (7 : 3) around a mark with the missing length.

    Without the mark it has at most *limit* characters, fewer where a cut would split what people take for one sign.
    """
    if len(text) <= limit:
        return text
    head = boundary_before(text, int(limit * _HEAD))
    tail = boundary_after(text, len(text) - (limit - int(limit * _HEAD)))
    return f"{text[:head]}\n\n... [truncated {tail - head} chars] ...\n\n{text[tail:]}"
