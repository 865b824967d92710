"""Values out of foreign JSON, as what they should be or else as nothing."""

from typing import Any, cast

import orjson


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
