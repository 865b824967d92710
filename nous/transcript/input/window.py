"""A part of a file, as if it were all there is."""

import io
from typing import BinaryIO, cast

_CHUNK = 1 << 20


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
        return cast("BinaryIO", io.BufferedReader(cls(source, max(0, end - begin)), _CHUNK))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # a narrower buffer type than the stub's, which is not public
        data = self._source.read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)
