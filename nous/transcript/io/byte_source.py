"""Read a session file: decompress gzip or Zstandard, look ahead, hash, split into lines."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple, Self, cast

from nous.domain.errors import BadInput
from nous.transcript.model import ReadNotes

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
_LIBRARIES = ("compression.zstd", "backports.zstd")
"""The standard library from Python 3.14 on, and its backport for earlier versions."""


def is_packed(head: bytes) -> bool:
    return head.startswith((GZIP, ZSTANDARD))


def _unpacker(head: bytes, packed: BinaryIO) -> tuple[Callable[[int], bytes], tuple[type[Exception], ...]]:
    """Return a reader of all bytes of *packed* before a damage, and what it raises there."""
    # read1 returns what was decompressed before the damage; read would discard it.
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=packed).read1, (EOFError, zlib.error, gzip.BadGzipFile)
    for name in _LIBRARIES:
        with suppress(ImportError):
            library: Any = import_module(name)
            return library.ZstdFile(packed).read1, (EOFError, library.ZstdError)
    raise BadInput("this file is packed with Zstandard: install nous-bus[zstd] to read it, or unpack it with `unzstd`")


DAMAGED = "packed data damaged"  # prefix of the reason why compressed data ended early
_CHUNK = 1 << 18
_LONGEST_MAGIC = 4


class ByteSource(io.RawIOBase):
    """Stream with look-ahead that records the length and sha256 of all bytes read.

    Damaged compressed data ends the stream at the damage; `damage` then holds the reason.
    """

    def __init__(
        self, read: Callable[[int], bytes], damages: tuple[type[Exception], ...] = (), *, waiting: bytes = b""
    ) -> None:
        """Read *waiting*, then from *read*; an exception of *damages* means damaged compressed data."""
        super().__init__()
        self._read = read
        self._damages = damages
        self._waiting = waiting
        self._sha256 = sha256()
        self.length = 0
        self.damage: str | None = None

    @classmethod
    def on(cls, source: BinaryIO) -> Self:
        """Wrap *source*, and decompress it; raises BadInput if a library for that is missing."""
        byte_source = cls(source.read)
        head = byte_source.look(_LONGEST_MAGIC)
        return cls(*_unpacker(head, byte_source.buffered())) if is_packed(head) else byte_source

    @property
    def digest(self) -> str:
        return self._sha256.hexdigest()

    def buffered(self) -> BinaryIO:
        return cast("BinaryIO", io.BufferedReader(self, _CHUNK))

    def look(self, size: int) -> bytes:
        """Return the next *size* bytes, fewer at the end, without consuming them."""
        while (missing := size - len(self._waiting)) > 0 and (drawn := self._draw(missing)):
            self._waiting += drawn
        return self._waiting[:size]

    def drain(self) -> None:
        """Read to the end, so that length and digest cover the whole stream."""
        while self._draw(_CHUNK):
            pass

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # a narrower buffer type than the stub's, which is not public
        given = self._waiting[: len(buffer)] or self._draw(len(buffer))
        self._waiting = self._waiting[len(given) :]
        buffer[: len(given)] = given
        return len(given)

    def _draw(self, size: int) -> bytes:
        try:
            drawn = self._read(size) or b""
        except self._damages as error:
            self.damage = f"{DAMAGED}: {error}"
            return b""
        self.length += len(drawn)
        self._sha256.update(drawn)
        return drawn


_CONTROLS = tuple(map(chr, (*range(9), 11, *range(14, 27), *range(28, 32))))
"""Control characters that no text holds: all but tab, line ends, form feed and escape."""


def is_text(text: str) -> bool:
    """Return whether *text* has few control characters (1 in 200) and bad bytes (1 in 10)."""
    strange = sum(map(text.count, _CONTROLS))
    return strange * 200 <= len(text) and text.count("\ufffd") * 10 <= len(text)


LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. Longer lines are skipped and counted: no message of a real session is that long."""

TOO_LONG = f"line longer than {LONGEST_LINE >> 20} MiB"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
            while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
                cursor.pass_over(rest)
            cursor.pass_over(rest)
            continue
        mark = len(BYTE_ORDER_MARK) if not offset and data.startswith(BYTE_ORDER_MARK) else 0
        yield Line(number, offset + mark, data[mark:] if mark else data)
