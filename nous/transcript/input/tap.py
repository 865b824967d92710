"""The bytes of a session file on their way to a reader: unpacked, looked into, measured."""

import gzip
import io
import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import BinaryIO, Self, cast

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20


class Tap(io.RawIOBase):
    """A stream that can be looked into before it is read, and knows the length and sha256 of all that came through.

    Packed bytes that turn out to be damaged end the stream where the damage is, and `damage` says so.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        super().__init__()
        self._read = read
        self._waiting = b""
        self._sha256 = sha256()
        self.length = 0
        self.damage: str | None = None

    @classmethod
    def on(cls, source: BinaryIO) -> Self:
        """A tap on what *source* holds, unpacked if it is gzip."""
        tap = cls(source.read)
        if tap.look(len(_GZIP)) != _GZIP:
            return tap
        # read1 gives what was unpacked before it comes to the damage; read would lose it.
        return cls(gzip.GzipFile(fileobj=tap.buffered()).read1)

    @property
    def digest(self) -> str:
        return self._sha256.hexdigest()

    def buffered(self) -> BinaryIO:
        """What is to be read, by lines too."""
        return cast("BinaryIO", io.BufferedReader(self, _CHUNK))

    def look(self, size: int) -> bytes:
        """The next *size* bytes, fewer at the end. They stay to be read."""
        while (missing := size - len(self._waiting)) > 0 and (drawn := self._draw(missing)):
            self._waiting += drawn
        return self._waiting[:size]

    def drain(self) -> None:
        """Read to the end, so that length and digest are those of the whole."""
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
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self.damage = f"packed data damaged: {error}"
            return b""
        self.length += len(drawn)
        self._sha256.update(drawn)
        return drawn
