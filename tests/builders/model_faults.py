"""How a model server goes wrong: every fault by name, and what then comes over the wire.

A status, as in "500", answers with an error in the provider's form, and with a header in "429 retry-after 1". `spoilt`
has the other faults of a whole exchange, `spoilt_text` those of the answer's text, `spoilt_vectors` those of vectors.
"huge" is 5 MiB of text, or 33 MiB of vectors.
"""

import gzip
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import orjson

HUGE = 5 * 1024 * 1024
HUGE_VECTORS = 33 * 1024 * 1024

Row = tuple[int, Any]
"""A vector with its index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """What goes over the wire. `manner` is "whole", or how it goes wrong."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    manner: str = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The text of an answer, whether it was cut at its limit, and whether its tokens are counted."""

    text: str
    is_cut: bool = False
    is_counted: bool = True


def spoilt_text(fault: str | None, text: str) -> Said:
    """What becomes of *text*."""
    match fault:
        case "prose":
            return Said(text=f"Sure! Here is what you asked for:\n{text}\nI hope that this helps.")
        case "fenced":
            return Said(text=f"```json\n{text}\n```")
        case "truncated":
            return Said(text=text[: len(text) // 2], is_cut=True)
        case "wrong types":
            return Said(text=orjson.dumps(_of_wrong_type(_parsed(text))).decode())
        case "string for list":
            return Said(text=orjson.dumps(_without_lists(_parsed(text))).decode())
        case "huge":
            return Said(text="x" * HUGE)
        case "empty":
            return Said(text="")
        case "no usage":
            return Said(text=text, is_counted=False)
        case _:
            return Said(text=text)


def spoilt_vectors(fault: str | None, vectors: list[list[float]]) -> list[Row]:
    """What becomes of *vectors*."""
    rows: list[Row] = list(enumerate(vectors))
    *others, (last, vector) = rows
    match fault:
        case "shuffled":
            return rows[::-1]
        case "missing":
            return others
        case "one more":
            return [*rows, (last + 1, vector)]
        case "twice":
            return [*others, (0, vector)]
        case "ragged":
            return [*others, (last, vector[:-1])]
        case "longer":
            return [(index, [*each, 1.0]) for index, each in rows]
        case "nan":
            return [*others, (last, [*vector[:-1], nan])]
        case "zeros":
            return [*others, (last, [0.0] * len(vector))]
        case "no numbers":
            return [*others, (last, "no numbers")]
        case _:
            return rows


def spoilt(fault: str | None, good: Wired, *, has_schema: bool, told: str) -> Wired:
    """What becomes of an exchange; *told* is what a server would be careless to repeat."""
    match fault:
        # No answer until the caller has gone; one byte at a time, for ever; closed within the body, or before it.
        case "hang" | "drip" | "cut" | "closed":
            return replace(good, manner=fault)
        case "echo":
            return Wired(status=400, body=_error(f"cannot make sense of: {told}"))
        case "no schema" if has_schema:
            return Wired(status=400, body=_error("response_format and tools are not supported"))
        case "redirect":
            return Wired(status=307, headers=(("location", "/elsewhere"),))
        case "packed":
            return replace(good, headers=(("content-encoding", "gzip"),), body=gzip.compress(good.body))
        case "not json":
            return Wired(body=b"<html><body>Bad gateway</body></html>")
        case "error in 200":
            return Wired(body=_error("the model is not loaded"))
        case "no body":
            return Wired()
        case "list":
            return Wired(body=b"[]")
        case "no choices":
            return Wired(body=b'{"choices": [], "content": []}')
        case str() if fault[:3].isdigit():
            return _status(fault)
        case _:
            return good


def _status(fault: str) -> Wired:
    status, name, value = [*fault.split(" ", 2), "", ""][:3]
    headers = ((name, value),) if name else ()
    return Wired(status=int(status), headers=headers, body=_error(f"this is a {status} on purpose"))


def _error(message: str) -> bytes:
    """An error in a form that both protocols read."""
    return orjson.dumps({"type": "error", "error": {"type": "on_purpose", "message": message}})


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _of_wrong_type(value: Any) -> Any:
    match value:
        case dict():
            return {name: _of_wrong_type(each) for name, each in value.items()}
        case list():
            return [_of_wrong_type(each) for each in value]
        case str():
            return 7
        case _:
            return "seven"


def _without_lists(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_lists(each) for name, each in value.items()}
        case list():
            return ", ".join(each if isinstance(each, str) else orjson.dumps(each).decode() for each in value)
        case _:
            return value
