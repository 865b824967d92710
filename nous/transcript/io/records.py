"""Parse the JSON objects of a session file in any layout, including damaged files.

Layouts: one object per line, elements of an array (compact or pretty), one object over many lines, an array followed by
lines. Damage: torn, glued together, with NULs or invalid UTF-8. Unreadable content is counted with its line.
"""

import json
import re
from collections.abc import Generator, Iterator
from enum import Enum
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from nous.transcript.io.byte_source import LONGEST_LINE, TOO_LONG, ByteSource, Line, ReadPosition, lines
from nous.transcript.model import ReadNotes

BROKEN = "broken line"
TORN = "torn record at the end"
BAD_UTF8 = "invalid UTF-8"
_CHUNK = 1 << 20
_BLANK = b" \t\r\n\0"
# Start of the messages in a document that holds a session.
_MESSAGES = re.compile(rb'"(?:messages|conversations)"\s*:\s*\[')
_OPENING = b"{["
_FILLER = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\\n]++|\\.)*+")*+', re.DOTALL)
_TO_NEXT_BRACKET = re.compile(_FILLER.pattern + rb"[{}\[\]]", re.DOTALL)
_OPENED_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+', re.DOTALL)
_LONE_SURROGATE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class End(Enum):
    OUT_OF_DATA = "what follows may complete the rest"
    CLOSED = "a closing bracket belongs to something that was opened before"
    TORN = "a string runs into the end of its line, so the rest can never be completed"


class Scan(NamedTuple):
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
    filler = _FILLER.match(data, position)
    opened = _OPENED_STRING.match(data, filler.end() if filler else position)
    is_torn = opened is not None and data[opened.end() : opened.end() + 1] == b"\n"
    return Scan(spans, rest, End.TORN if is_torn else End.OUT_OF_DATA)


def parse(data: bytes) -> Any:
    """Parse JSON, NaN and lone surrogates too. Raises ValueError; UnicodeDecodeError for bytes."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    text = data.decode()
    try:
        return json.loads(_LONE_SURROGATE.sub(lambda pair: pair[0] if pair[1] else "\\ufffd", text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class Record(NamedTuple):
    value: dict[str, Any]
    line: int
    offset: int


def records(stream: BinaryIO, notes: ReadNotes, cursor: ReadPosition) -> Iterator[Record]:
    """Yield every object in *stream* from *cursor* on."""
    first = next((line for line in lines(stream, notes, cursor) if line.data.strip(_BLANK)), None)
    if first is None:
        return
    rest = chain((first,), lines(stream, notes, cursor))
    if _spans_lines(first.data):
        cursor.line, cursor.offset = first.number, first.offset
        following = yield from _spread(first.data, stream, notes, cursor)
        rest = lines(ByteSource(stream.read, waiting=following).buffered(), notes, cursor)
    # Hot path: nearly all lines of nearly all sessions are valid, so a valid line must be cheap.
    loads = orjson.loads
    for line in rest:
        try:
            value = loads(line.data)
        except orjson.JSONDecodeError:
            yield from _salvaged(line, notes)
            continue
        yield from _objects(value, line.number, line.offset, notes)


def is_one_a_line(stream: BinaryIO) -> bool:
    """Return whether *stream* has one value per line, judged by the first non-blank line."""
    first = next((line for line in lines(stream, ReadNotes(), ReadPosition()) if line.data.strip(_BLANK)), None)
    return first is None or not _spans_lines(first.data)


def _spans_lines(first: bytes) -> bool:
    """Return whether a file with this first line holds an array or a multi-line object."""
    start = first.lstrip(_BLANK)
    if start.startswith(b"["):
        return True
    return start.startswith(b"{") and not (found := scan(start)).spans and found.end is End.OUT_OF_DATA


def _objects(value: Any, number: int, offset: int, notes: ReadNotes) -> Iterator[Record]:
    if isinstance(value, dict):
        yield Record(cast("dict[str, Any]", value), number, offset)
    elif isinstance(value, list):
        for element in cast("list[Any]", value):
            yield from _objects(element, number, offset, notes)
    else:
        notes.trouble("not an object", number)


def _spread(data: bytes, stream: BinaryIO, notes: ReadNotes, cursor: ReadPosition) -> Generator[Record, None, bytes]:
    """Yield the elements of an array, or objects that span lines; *data* is the first line.

    Returns what follows the array. After a torn value, that begins at the first line that starts like an object.
    """
    start = data.find(b"[") + 1 if data.lstrip(_BLANK).startswith(b"[") else 0
    while True:
        found = scan(data, start)
        line = cursor.line
        counted = 0
        for begin, end in found.spans:
            line, counted = line + data.count(b"\n", counted, begin), begin
            yield from _parsed(data[begin:end], line, cursor.offset + begin, notes)
        cursor.pass_over(data[: found.rest])
        data, start = data[found.rest :], 0
        if found.end is End.CLOSED:
            return data
        is_long = len(data) > LONGEST_LINE
        # At least as much as there is, so that a long value is not scanned too many times.
        more = b"" if is_long or found.end is End.TORN else stream.read(max(_CHUNK, len(data)))
        if more:
            data += more
            continue
        used = yield from _inside_torn(data, cursor, notes)
        cursor.pass_over(data[:used])
        data = data[used:]
        if used and is_long:
            continue  # more messages follow, as in an array
        if used and found.end is End.OUT_OF_DATA:
            notes.trouble(TORN, cursor.line)
            return b""
        blank = len(data) - len(data.lstrip(_BLANK + b"],"))
        cursor.pass_over(data[:blank])
        if data[blank:]:
            notes.trouble(TOO_LONG if is_long else TORN, cursor.line)
        following = data.find(b"\n{", blank) + 1 or len(data)
        cursor.pass_over(data[blank:following])
        return data[following:]


def _inside_torn(data: bytes, cursor: ReadPosition, notes: ReadNotes) -> Generator[Record, None, int]:
    """Yield a document without an end: first itself without messages, then each whole message.

    Returns the offset where the last message ends; 0 if *data* does not begin with such a document.
    """
    opening = _MESSAGES.search(data)
    begin = len(data) - len(data.lstrip(_BLANK + b"],"))
    if not opening or data[begin : begin + 1] != b"{":
        return 0
    try:
        head = parse(data[begin : opening.end()] + b"]}")
    except ValueError:
        return 0  # nested deeper: not the document's own messages
    line = cursor.line
    yield Record(head, line + data.count(b"\n", 0, begin), cursor.offset + begin)
    used = counted = opening.end()
    line += data.count(b"\n", 0, counted)
    for start, used in scan(data, opening.end()).spans:
        line, counted = line + data.count(b"\n", counted, start), start
        yield from _parsed(data[start:used], line, cursor.offset + start, notes)
    return used


def _parsed(data: bytes, line: int, offset: int, notes: ReadNotes) -> Iterator[Record]:
    try:
        value = parse(data)
    except UnicodeDecodeError:
        notes.trouble(BAD_UTF8, line)
    except ValueError:
        notes.trouble(BROKEN, line)
    else:
        yield from _objects(value, line, offset, notes)


def _salvaged(line: Line, notes: ReadNotes) -> Iterator[Record]:
    """Recover the objects on a line that is not one JSON value."""
    data = line.data.replace(b"\0", b"").strip()
    if not data:
        if b"\0" in line.data:
            notes.skip("NUL bytes")
        return
    found = scan(data)
    if found.spans and data[0] in _OPENING:
        for begin, end in found.spans:
            yield from _parsed(data[begin:end], line.number, line.offset + begin, notes)
        begin = found.rest
    else:
        begin = 0
    if data[begin:].strip(_BLANK + b","):
        notes.trouble(_damage(data[begin:], line), line.number)


def _damage(data: bytes, line: Line) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BAD_UTF8
    return BROKEN if line.data.endswith(b"\n") else TORN
