"""Values out of foreign JSON, as what they should be or else as nothing."""

import re
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
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def as_arguments(value: object) -> dict[str, Any]:
    """The arguments of a call, an object or JSON in a string; if they are neither, what they are, as `arguments`."""
    parsed = value
    if isinstance(value, str):
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError:
            parsed = value
    return as_object(parsed) or ({"arguments": parsed} if parsed else {})


def as_shown(value: object) -> str:
    """A result as text: a string as it is, anything else as indented JSON; nothing if there is none."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode(errors="replace")
    except TypeError:  # it reads what is nested deeper than what it writes
        return "(nested too deeply to be shown)"


_LAST_SECOND_COUNT = 100_000_000_000
"""Numbers above are milliseconds: as seconds they would be after the year 5000."""


def parse_time(value: object) -> datetime | None:
    """ISO 8601 text (any number of fraction digits; without a zone it is UTC) or epoch seconds or milliseconds, in UTC.

    None for whatever is neither.
    """
    try:
        if isinstance(value, str):
            return _in_utc(datetime.fromisoformat(value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _LAST_SECOND_COUNT else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is UTC:
        return time
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


LONGEST_MARK = 45
"""Characters of a mark for the longest text there could be."""

_HEAD = 0.7
_MARK = re.compile(r"\n\n\.\.\. \[truncated \d{1,12} chars\] \.\.\.\n\n")


def cut(text: str, limit: int) -> str:
    """*text*, or its beginning and end (7 : 3) around a mark that says how many characters are missing.

    Of the text at most *limit* characters are kept, fewer where a cut would tear what people take for one sign. The
    mark is not counted.
    """
    if len(text) <= limit:
        return text
    head = boundary_before(text, int(limit * _HEAD))
    tail = boundary_after(text, len(text) - (limit - int(limit * _HEAD)))
    return f"{text[:head]}\n\n... [truncated {tail - head} chars] ...\n\n{text[tail:]}"


def is_cut(text: str, limit: int) -> bool:
    """Whether *text* holds a mark, without which it would be no longer than *limit*."""
    mark = _MARK.search(text)
    return mark is not None and len(text) - len(mark[0]) <= limit
