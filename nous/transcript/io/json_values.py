"""Find complete JSON values in bytes that are not one valid JSON document.

Values may be glued together, torn off, or mixed with other content.
"""

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

import orjson

_FILLER = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\\n]++|\\.)*+")*+', re.DOTALL)
_TO_NEXT_BRACKET = re.compile(_FILLER.pattern + rb"[{}\[\]]", re.DOTALL)
_OPENED_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+', re.DOTALL)
_OPENING = b"{["
_LONE_SURROGATE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_MOST_BEGINNINGS = 64


class End(Enum):
    """Reason why a scan ended."""

    OUT_OF_DATA = "what follows may complete the rest"
    CLOSED = "a closing bracket belongs to something that was opened before"
    TORN = "a string runs into the end of its line, so the rest can never be completed"


class Scan(NamedTuple):
    """Spans of complete values, the start of the rest, and the reason why the scan ended."""

    spans: list[tuple[int, int]]
    rest: int
    end: End


def scan(data: bytes, start: int = 0) -> Scan:
    """Find the complete objects and arrays in *data*, ignoring the bytes between them."""
    spans: list[tuple[int, int]] = []
    depth = 0
    begin = rest = position = start
    while found := _TO_NEXT_BRACKET.match(data, position):
        position = found.end()
        if data[position - 1] in _OPENING:
            begin = begin if depth else position - 1
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            spans.append((begin, position))
            rest = position
        elif depth < 0:
            return Scan(spans, position, End.CLOSED)
    return Scan(spans, rest, End.TORN if _is_torn(data, position) else End.OUT_OF_DATA)


def _is_torn(data: bytes, position: int) -> bool:
    filler = _FILLER.match(data, position)
    opened = _OPENED_STRING.match(data, filler.end() if filler else position)
    return opened is not None and data[opened.end() : opened.end() + 1] == b"\n"


def parse(data: bytes) -> Any:
    """Parse the JSON value in *data*, accepting lone surrogates and NaN.

    Agents write both; lone surrogates are replaced. Raises ValueError for invalid JSON, and its subclass
    UnicodeDecodeError for invalid UTF-8.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    text = data.decode()
    try:
        return json.loads(_LONE_SURROGATE.sub(_mended, text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def beginnings(data: bytes) -> Iterator[int]:
    """Yield the offsets in a damaged line at which an object may begin: the first `{"`s.

    At most 64 of them.
    """
    position = 0
    for _ in range(_MOST_BEGINNINGS):
        position = data.find(b'{"', position + 1)
        if position < 0:
            return
        yield position


def _mended(pair: re.Match[str]) -> str:
    return pair[0] if pair[1] else "\\ufffd"
