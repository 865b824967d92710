"""Load an event's transcript (inline, from a file or an upload), and upload transcripts.

A file may have been written to since its event was published. It is read as it is now. The change is noted in the
transcript's skip counts, which are stored with the episode. Growth does no harm: the episode then covers a newer
version, and the event that announces that version finds the work done.

An upload has no TTL, so it lives as long as its event. It is removed by the commit that releases it.
"""

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from nous.domain.errors import BadInput, NotFound, Unreadable
from nous.domain.events import Event, SessionEvent
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.transcript import UnknownFormat, parse_transcript, read_transcript
from nous.transcript.model import Transcript

_SCHEME = "redis:"
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
LARGEST = 256 << 20
"""Limit of an uncompressed transcript, in bytes: an upload is read into memory as a whole. Files are streamed."""


class Uploads(Protocol):
    """Storage of uploaded transcripts, compressed."""

    def put(self, key: str, packed: bytes) -> None: ...

    def fetch(self, key: str) -> bytes | None: ...


def upload(uploads: Uploads, content: bytes, *, keys: StoreKeys, scope: Scope, session_id: str) -> str:
    """Store a transcript where every worker can read it; return its dataref.

    Equal content gets an equal dataref. Raises `BadInput` if the transcript is larger than `LARGEST`.
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
    return f"{_SCHEME}{keys.transcript(scope, session_id, digest=sha256(content).hexdigest())}"


def compacting_name(session_id: str) -> str:
    """Return the name for uploads of a session that goes on (is being compacted).

    It differs from the name for an ended session, so the worker of one event never releases the upload of the other. No
    session id equals it: ids are printable, and this name is not.
    """
    return f"{session_id}\ncompacting"


def key_of(dataref: str, *, within: str) -> str | None:
    """Return the key in *dataref* if it begins with *within*: a producer may name any key."""
    return dataref.removeprefix(_SCHEME) if dataref.startswith(_SCHEME + within) else None


def upload_of(event: Event, *, keys: StoreKeys) -> str | None:
    """Return the key of what was uploaded for *event*; None if it has no upload."""
    dataref = event.dataref if isinstance(event, SessionEvent) else None
    return key_of(dataref, within=keys.transcripts_of(event.scope)) if dataref else None


def unpacked(packed: bytes, *, largest: int = LARGEST) -> bytes:
    """Decompress gzip or zlib data. Raises `BadInput` if it is damaged, or above *largest*."""
    stream = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = stream.decompress(packed, largest + 1)
    except zlib.error as error:
        raise BadInput(f"the uploaded transcript cannot be unpacked: {error}") from error
    if len(content) > largest:
        raise BadInput(f"the uploaded transcript has more than {largest:,} bytes")
    if not stream.eof:
        raise BadInput("the uploaded transcript is torn")
    return content


CHANGED = "file: changed since it was published"

_SYSTEM = (Path("/proc"), Path("/sys"))
"""Pseudo-files there reveal processes and their environment."""


@dataclass(frozen=True, eq=False)
class StoredTranscripts:
    """`Transcripts` from the event itself, files of this host, and uploads.

    Only files within the folders *readable* are read, after symlinks are resolved; without it all files but the
    system's own. Files larger than *largest* bytes are refused. *redact* is applied to every transcript.
    """

    uploads: Uploads
    keys: StoreKeys
    _: KW_ONLY
    readable: Sequence[Path] | None = None
    largest: int = LARGEST
    redact: Callable[[Transcript], Transcript] = lambda transcript: transcript

    def read(self, event: SessionEvent) -> Transcript:
        try:
            return self.redact(self._read(event))
        except UnknownFormat:
            # Its message quotes the content, which must not reach logs, dead letters and dashboards.
            raise Unreadable(
                "the transcript is of no format that nous reads: `nous dev transcript` says what it holds"
            ) from None
        except BadInput as error:
            raise Unreadable(str(error)) from error

    def _read(self, event: SessionEvent) -> Transcript:
        if event.transcript is not None:
            return parse_transcript(event.transcript, format=event.format, source="inline")
        match (event.dataref or "").partition(":")[0]:
            case "redis":
                return self._uploaded(event, event.dataref or "")
            case "file":
                return self._from_file(event, _path_of(event.dataref or ""))
            case _:
                raise BadInput("the event has no transcript: neither inline, nor a dataref of file:// or redis:")

    def _uploaded(self, event: SessionEvent, dataref: str) -> Transcript:
        key = key_of(dataref, within=self.keys.transcripts_of(event.scope))
        if key is None:
            raise BadInput(f"{dataref} is no transcript that was uploaded for {event.scope}")
        packed = self.uploads.fetch(key)
        if packed is None:
            raise BadInput(f"{dataref} is gone: it was released, or evicted")
        return _compared(parse_transcript(unpacked(packed), format=event.format, source=dataref), event)

    def _from_file(self, event: SessionEvent, named: Path) -> Transcript:
        with _readable(named):
            path = self._allowed(named)
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                raise BadInput(f"{named} is not a regular file")
            if about.st_size > self.largest:
                raise BadInput(f"{named} has {about.st_size:,} bytes; no transcript has more than {self.largest:,}")
            transcript = replace(read_transcript(path, format=event.format), source=str(named))
            return _compared(transcript, event)

    def _allowed(self, named: Path) -> Path:
        """Return the resolved path of *named* if it may be read.

        Raises `BadInput` otherwise: the producer of the event may have named any file that this user can read.
        """
        path = Path(os.path.realpath(named))  # unlike Path.resolve, it accepts a symlink loop
        if any(path.is_relative_to(folder) for folder in _SYSTEM):
            raise BadInput(f"{named} is not a regular file: it is the system's own")
        if self.readable is not None and not any(path.is_relative_to(each.resolve()) for each in self.readable):
            raise BadInput(
                f"{named} is in no folder of which this worker reads: publish it with its content uploaded, or name "
                "its folder in worker.readable"
            )
        return path


def _path_of(dataref: str) -> Path:
    """Return the path of a file URL (RFC 8089): absolute, percent-encoded, on this host."""
    rest = dataref.removeprefix("file:")
    if rest.startswith("//"):
        host, _, rest = rest.removeprefix("//").partition("/")
        if host not in {"", "localhost"}:
            raise BadInput(f"{dataref} is on the host {host!r}: publish it with its content uploaded")
        rest = f"/{rest}"
    path = unquote(rest, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        raise BadInput(f"{dataref} does not name a file: write file:///absolute/path")
    return Path(path)


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, NotFound) as error:
        raise BadInput(f"{path} is gone, or on another host: publish it again with its content uploaded") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def _compared(transcript: Transcript, event: SessionEvent) -> Transcript:
    """Note whether *transcript* has changed since *event* was published."""
    length = transcript.bytes if event.bytes is None else event.bytes
    digest = transcript.digest if event.digest is None else event.digest.lower()
    if (length, digest) == (transcript.bytes, transcript.digest):
        return transcript
    return replace(transcript, skipped={**transcript.skipped, CHANGED: 1})
