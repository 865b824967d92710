"""Transcripts that travel through the store, so that workers on other hosts can read them.

An upload has no TTL: it waits as long as its event does, and goes with the commit that releases it, or when its event
is published again and nobody needs it any more (see `Bus.release`).
"""

import gzip
import zlib
from hashlib import sha256
from typing import Protocol

from nous.errors import BadInput
from nous.events import Event, SessionEvent
from nous.scope import Scope
from nous.store.keys import StoreKeys

_SCHEME = "redis:"
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
LARGEST = 256 << 20
"""Bytes of a transcript, unpacked: whoever reads an upload holds all of it. A file is read as it comes, of any size."""

_CHUNK = 1 << 20


class Uploads(Protocol):
    """Where uploaded transcripts wait, packed."""

    def put(self, key: str, packed: bytes) -> None: ...

    def fetch(self, key: str) -> bytes | None: ...


def upload(uploads: Uploads, content: bytes, *, keys: StoreKeys, scope: Scope, session_id: str) -> str:
    """Put a transcript where every worker can read it, and return its dataref: the same for the same content.

    Raises `BadInput` if it is larger than anybody would read.
    """
    if len(content) > LARGEST:
        raise BadInput(
            f"the transcript has {len(content):,} bytes, and none of more than {LARGEST:,} can be uploaded: publish it "
            "as a file that the workers can read"
        )
    dataref = dataref_of(content, keys=keys, scope=scope, session_id=session_id)
    uploads.put(dataref.removeprefix(_SCHEME), gzip.compress(content, compresslevel=6, mtime=0))
    return dataref


def dataref_of(content: bytes, *, keys: StoreKeys, scope: Scope, session_id: str) -> str:
    """How an event refers to *content*, once that is uploaded."""
    return f"{_SCHEME}{keys.transcript(scope, session_id, digest=sha256(content).hexdigest())}"


def compacting_name(session_id: str) -> str:
    """What a session that goes on is called among uploads, so that none is released by the worker of the other event.

    No session can be called so: an id is printable.
    """
    return f"{session_id}\ncompacting"


def key_of(dataref: str, *, within: str) -> str | None:
    """The key that *dataref* names, if it begins with *within*: a producer may have written the name of any key."""
    return dataref.removeprefix(_SCHEME) if dataref.startswith(_SCHEME + within) else None


def upload_of(event: Event, *, keys: StoreKeys) -> str | None:
    """The key of what was uploaded for *event*; None where nothing travels beside it."""
    dataref = event.dataref if isinstance(event, SessionEvent) else None
    return key_of(dataref, within=keys.transcripts_of(event.scope)) if dataref else None


def unpacked(packed: bytes, *, largest: int = LARGEST) -> bytes:
    """Undo gzip or zlib.

    Raises:
        BadInput: it is neither, torn, or longer than *largest*.
    """
    stream = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        # Measured before any of it is kept: a megabyte may become a thousand.
        if _is_larger(packed, largest):
            raise BadInput(f"the uploaded transcript has more than {largest:,} bytes")
        content = stream.decompress(packed)
    except zlib.error as error:
        raise BadInput(f"the uploaded transcript cannot be unpacked: {error}") from error
    if not stream.eof:
        raise BadInput("the uploaded transcript is torn")
    return content


def _is_larger(packed: bytes, largest: int) -> bool:
    stream, size, rest = zlib.decompressobj(_GZIP_OR_ZLIB), 0, packed
    while chunk := stream.decompress(rest, _CHUNK):
        size, rest = size + len(chunk), stream.unconsumed_tail
        if size > largest:
            return True
    return False
