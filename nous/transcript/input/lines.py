"""The lines of a file, each with where it stands, none longer than memory can bear."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from nous.transcript.notes import Notes

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. What is longer is passed over and counted: no session says that much in one breath."""

TOO_LONG = f"line longer than {LONGEST_LINE >> 20} MiB"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 20


class Line(NamedTuple):
    """A line with its ending, its number (from 1), and its offset in bytes."""

    number: int
    offset: int
    data: bytes


@dataclass(slots=True)
class Cursor:
    """Where the next byte stands."""

    line: int = 1
    offset: int = 0

    def pass_over(self, data: bytes) -> None:
        self.line += data.count(b"\n")
        self.offset += len(data)


def lines(stream: BinaryIO, notes: Notes, cursor: Cursor) -> Iterator[Line]:
    """Every line of *stream*, which begins at *cursor*; a byte order mark is taken off. *cursor* moves along."""
    while data := stream.readline(LONGEST_LINE):
        number, offset = cursor.line, cursor.offset
        cursor.offset += len(data)
        if data.endswith(b"\n"):
            cursor.line += 1
        elif len(data) == LONGEST_LINE:
            notes.trouble(TOO_LONG, number)
            _pass_over_the_rest(stream, cursor)
            continue
        mark = len(BYTE_ORDER_MARK) if not offset and data.startswith(BYTE_ORDER_MARK) else 0
        yield Line(number, offset + mark, data[mark:] if mark else data)


def _pass_over_the_rest(stream: BinaryIO, cursor: Cursor) -> None:
    while data := stream.readline(_CHUNK):
        cursor.pass_over(data)
        if data.endswith(b"\n"):
            return
