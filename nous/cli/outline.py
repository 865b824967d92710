"""Outline of an event without its content: the envelope, and types and sizes of fields.

For operators who must not read what an event says.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from nous.domain.event_codec import LARGEST
from nous.redaction.error_text import redacted

_ENVELOPE = ("type", "id", "subject", "time", "source", "dataschema", "correlationid", "causationid", "traceparent")
_DEPTH = 4
_KEYS = 25
_NAME = 40
_VALUE = 200
_INDENT = "  "


def size_of(raw: bytes | int) -> int:
    """Return the size of an event in bytes; an event too large to be read is given as its size."""
    return raw if isinstance(raw, int) else len(raw)


def envelope(raw: bytes | int) -> dict[str, str]:
    """Return the readable envelope fields of event *raw*, its scope, session and transcript."""
    message = _object(raw)
    data = message.get("data")
    inner = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    dataref = message.get("dataref") or inner.get("dataref")
    fields = {name: message.get(name) for name in _ENVELOPE}
    fields |= {"scope": inner.get("scope"), "session": inner.get("session_id"), "dataref": dataref}
    return {name: redacted(_plain(value), limit=_VALUE) for name, value in fields.items() if value}


def payload(raw: bytes | int) -> list[str]:
    """Return a line for each field of the event's payload: name, type and size, but no value."""
    if size_of(raw) > LARGEST:
        return [f"not read: it has {size_of(raw):,} bytes, and no event may have more than {LARGEST:,}"]
    message = _object(raw)
    if not message:
        return [f"no JSON object: {size_of(raw):,} bytes"]
    return list(_lines("data", [message.get("data")], depth=0))


def _object(raw: bytes | int) -> dict[str, Any]:
    if isinstance(raw, int) or len(raw) > LARGEST:
        return {}
    try:
        message = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return cast("dict[str, Any]", message) if isinstance(message, dict) else {}


def _plain(value: Any) -> str:
    try:
        return value if isinstance(value, str) else orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # orjson reads deeper nesting than it writes
        return "nested too deeply to be shown"


def _lines(name: str, values: Sequence[Any], *, depth: int) -> Iterator[str]:
    """Yield a line for the *values* of one field, and below it a line for each of their fields."""
    yield f"{_INDENT * depth}{redacted(name, limit=_NAME)}: {' or '.join(_described(values))}"
    if depth == _DEPTH:
        return
    items = [item for value in values if isinstance(value, list) for item in cast("list[Any]", value)]
    if items:
        yield from _lines("each", items, depth=depth + 1)
    fields: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, Mapping):
            for field, inner in cast("dict[str, Any]", value).items():
                fields.setdefault(field, []).append(inner)
    for field in list(fields)[:_KEYS]:
        yield from _lines(field, fields[field], depth=depth + 1)
    if len(fields) > _KEYS:
        yield f"{_INDENT * (depth + 1)}... {len(fields) - _KEYS} more fields"


def _described(values: Sequence[Any]) -> Iterator[str]:
    if sizes := [len(value) for value in values if isinstance(value, str)]:
        yield f"text of {_range(sizes)} characters"
    if sizes := [len(cast("list[Any]", value)) for value in values if isinstance(value, list)]:
        yield f"list of {_range(sizes)}"
    if any(isinstance(value, dict) for value in values):
        yield "object"
    if any(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        yield "number"
    if any(isinstance(value, bool) for value in values):
        yield "true or false"
    if any(value is None for value in values):
        yield "nothing"


def _range(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"
