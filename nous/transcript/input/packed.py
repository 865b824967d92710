"""Unpacking session files that were compressed."""

import gzip
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO

from nous.errors import BadInput

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
