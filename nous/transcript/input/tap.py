"""The bytes of a session file on their way to a reader: unpacked, looked into, measured."""

import io
from collections.abc import Callable
from hashlib import sha256
from typing import BinaryIO, Self, cast

from nous.transcript.input.packed import damages, is_packed, unpacker

DAMAGED = "packed data damaged"
"""How the reason begins why packed bytes end before their end."""

_CHUNK = 1 << 18
_LONGEST_MAGIC = 4


class Tap(io.RawIOBase):
    """A stream that can be looked into before it is read, and knows the length and sha256 of all that came through.

    Packed bytes that turn out to be damaged end the stream where the damage is, and `damage` says so.
    """

    def __init__(self, read: Callable[[int], bytes], damages: tuple[type[Exception], ...] = ()) -> None:
        """Draw from *read*; what it raises of *damages* says that the bytes it unpacks are damaged."""
        super().__init__()
        self._read = read
        self._damages = damages
        self._waiting = b""
        self._sha256 = sha256()
        self.length = 0
        self.damage: str | None = None

    @classmethod
    def on(cls, source: BinaryIO) -> Self:
        """A tap on what *source* holds, unpacked if it is packed. Raises BadInput if a library for that is missing."""
        tap = cls(source.read)
        head = tap.look(_LONGEST_MAGIC)
        return cls(unpacker(head, tap.buffered()), damages()) if is_packed(head) else tap

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
        except self._damages as error:
            self.damage = f"{DAMAGED}: {error}"
            return b""
        self.length += len(drawn)
        self._sha256.update(drawn)
        return drawn
