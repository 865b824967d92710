"""Finds the transcript that an event speaks of: inline, in a file, or uploaded.

A file may have been written to since the event was published. It is read as it is now, and what has become of it is
counted among what the transcript passed over, so that it stands in the episode. Growing is no harm: the episode is
then of a newer version, and the event that announces that version finds it done.
"""

import stat
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from nous.errors import BadInput, NotFound, Unreadable
from nous.events import SessionEvent
from nous.store.keys import StoreKeys
from nous.store.uploads import Uploads, key_of, unpacked
from nous.transcript import UnknownFormat, parse_transcript, read_transcript
from nous.transcript.input.tap import Tap
from nous.transcript.model import Transcript
from nous.transcript.read import session_content

GROWN = "file: grown since it was published"
CUT = "file: cut since it was published"
REWRITTEN = "file: rewritten since it was published"

_CHUNK = 1 << 20


class StoredTranscripts:
    """`Transcripts` from the event itself, from this host's files, and from uploads."""

    def __init__(self, uploads: Uploads, keys: StoreKeys) -> None:
        self._uploads = uploads
        self._keys = keys

    def read(self, event: SessionEvent) -> Transcript:
        try:
            return self._read(event)
        except UnknownFormat:
            # Its text says what was seen. Here that would reach logs, letters and dashboards.
            raise Unreadable(
                "the transcript is of no format that nous reads: `nous transcript` says what it holds"
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
                return _from_file(event, _path_of(event.dataref or ""))
            case _:
                raise BadInput("the event has no transcript: neither inline, nor a dataref of file:// or redis:")

    def _uploaded(self, event: SessionEvent, dataref: str) -> Transcript:
        key = key_of(dataref, within=self._keys.transcripts_of(event.scope))
        if key is None:
            raise BadInput(f"{dataref} is no transcript that was uploaded for {event.scope}")
        packed = self._uploads.fetch(key)
        if packed is None:
            raise BadInput(f"{dataref} is gone: it was released, or evicted")
        content = unpacked(packed)
        transcript = parse_transcript(content, format=event.format, source=dataref)
        return _compared(transcript, event, beginning=lambda length: sha256(content[:length]).hexdigest())


def _from_file(event: SessionEvent, path: Path) -> Transcript:
    with _readable(path):
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path} is not a regular file")
        transcript = read_transcript(path, format=event.format)
        return _compared(transcript, event, beginning=lambda length: _digest_of_beginning(path, length, event.format))


def _path_of(dataref: str) -> Path:
    """The path of a file URL (RFC 8089): absolute, percent-encoded, on this host."""
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


def _compared(transcript: Transcript, event: SessionEvent, *, beginning: Callable[[int], str]) -> Transcript:
    """*transcript*, with a note of what has become of it since *event* was published."""
    change = _change(transcript, event, beginning)
    return replace(transcript, skipped={**transcript.skipped, change: 1}) if change else transcript


def _change(transcript: Transcript, event: SessionEvent, beginning: Callable[[int], str]) -> str | None:
    """What has become of it; *beginning* gives the digest of so many bytes from its start."""
    length = transcript.bytes if event.bytes is None else event.bytes
    digest = transcript.digest if event.digest is None else event.digest.lower()
    if (length, digest) == (transcript.bytes, transcript.digest):
        return None
    if transcript.bytes < length:
        return CUT
    if transcript.bytes > length and (event.digest is None or beginning(length) == digest):
        return GROWN
    return REWRITTEN


def _digest_of_beginning(path: Path, length: int, name: str | None) -> str:
    digest = sha256()
    with session_content(path, format=name) as raw:
        stream = Tap.on(raw).buffered()
        while length > 0 and (chunk := stream.read(min(length, _CHUNK))):
            digest.update(chunk)
            length -= len(chunk)
    return digest.hexdigest()
