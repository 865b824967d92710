"""The lines of a file, each with where it stands, none longer than memory can bear."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, cast

from nous.transcript.model import Notes

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. What is longer is passed over and counted: no session says that much in one breath."""

TOO_LONG = f"line longer than {LONGEST_LINE >> 20} MiB"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 18


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


def many_lines(stream: BinaryIO, notes: Notes, cursor: Cursor) -> Iterator[list[bytes]]:
    """The lines of *stream* without their ends, many at once, which is how to read them at little cost.

    *cursor* stands where the first of them begins. Lists end in an empty one, but for the last, whose only line the
    file ends in. A line that is too long is passed over, as in `lines`.
    """
    pieces: list[bytes] = []
    length = 0
    while data := stream.read(_CHUNK):
        end = data.rfind(b"\n") + 1
        if end:
            block = b"".join((*pieces, data[:end]))
            found = block.split(b"\n")
            yield found
            cursor.line += len(found) - 1
            cursor.offset += len(block)
            pieces, length = [], 0
        pieces.append(data[end:])
        length += len(pieces[-1])
        if length >= LONGEST_LINE:
            notes.trouble(TOO_LONG, cursor.line)
            cursor.offset += length
            _pass_over_the_rest(stream, cursor)
            pieces, length = [], 0
    if length:
        yield [b"".join(pieces)]
        cursor.offset += length


def _pass_over_the_rest(stream: BinaryIO, cursor: Cursor) -> None:
    while data := stream.readline(_CHUNK):
        cursor.pass_over(data)
        if data.endswith(b"\n"):
            return


_WINDOW_CHUNK = 1 << 20


class Window(io.RawIOBase):
    """The bytes of *source* from where it stands, up to *length* of them."""

    def __init__(self, source: BinaryIO, length: int) -> None:
        super().__init__()
        self._source = source
        self._left = length

    @classmethod
    def on(cls, source: BinaryIO, begin: int, end: int) -> BinaryIO:
        """What stands between two offsets, to be read by lines too."""
        source.seek(begin)
        return cast("BinaryIO", io.BufferedReader(cls(source, max(0, end - begin)), _WINDOW_CHUNK))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # a narrower buffer type than the stub's, which is not public
        data = self._source.read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)
