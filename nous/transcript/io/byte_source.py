"""The bytes of a session file on their way to a reader: unpacked, looked into, measured."""

import gzip
import io
import zlib
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from typing import Any, BinaryIO, Self, cast

from nous.domain.errors import BadInput

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
_LIBRARIES = ("compression.zstd", "backports.zstd")
"""What Python has from 3.14 on, and the same for those before."""


def is_packed(head: bytes) -> bool:
    """Whether a file that begins like this is compressed in a way that is known."""
    return head.startswith((GZIP, ZSTANDARD))


def unpacker(head: bytes, packed: BinaryIO) -> Callable[[int], bytes]:
    """What reads the unpacked bytes of *packed*, which begins with *head*; it gives all that comes before damage.

    It raises one of `damages` where the damage is. Raises BadInput if a library is missing.
    """
    # read1 gives what was unpacked before it comes to the damage; read would lose it.
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=packed).read1
    library = _zstandard()
    if library is None:
        raise BadInput("this file is packed with Zstandard: install nous[zstd] to read it, or unpack it with `unzstd`")
    return library.ZstdFile(packed).read1


def damages() -> tuple[type[Exception], ...]:
    """What reading damaged bytes raises."""
    library = _zstandard()
    return (EOFError, zlib.error, gzip.BadGzipFile, *((library.ZstdError,) if library else ()))


def _zstandard() -> Any:
    for name in _LIBRARIES:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


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


_CONTROLS = tuple(map(chr, (*range(9), 11, *range(14, 27), *range(28, 32))))
"""What no text holds: not tab, line ends, form feed, escape."""


def is_text(text: str) -> bool:
    """Whether a person could read this: next to no control characters, and few bytes that no encoding explains."""
    strange = sum(map(text.count, _CONTROLS))
    return strange * 200 <= len(text) and text.count("\ufffd") * 10 <= len(text)
