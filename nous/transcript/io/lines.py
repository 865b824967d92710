"""Split a byte stream into lines with their positions; skip and count overlong lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from nous.transcript.model import ReadNotes

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. Longer lines are skipped and counted: no message of a real session is that long."""

TOO_LONG = f"line longer than {LONGEST_LINE >> 20} MiB"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 18


class Line(NamedTuple):
    """A line with its ending, its number (from 1), and its offset in bytes."""

    number: int
    offset: int
    data: bytes


@dataclass(slots=True)
class ReadPosition:
    line: int = 1
    offset: int = 0

    def pass_over(self, data: bytes) -> None:
        self.line += data.count(b"\n")
        self.offset += len(data)


def lines(stream: BinaryIO, notes: ReadNotes, cursor: ReadPosition) -> Iterator[Line]:
    """Yield every line of *stream* from *cursor* on; skip and count those over `LONGEST_LINE`."""
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


def _pass_over_the_rest(stream: BinaryIO, cursor: ReadPosition) -> None:
    while data := stream.readline(_CHUNK):
        cursor.pass_over(data)
        if data.endswith(b"\n"):
            return
