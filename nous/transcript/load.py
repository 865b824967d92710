"""Load a transcript from a path, stream, session id or bytes; detects the format."""

import errno
import io
import re
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from nous.domain.errors import BadInput, NotFound, Unavailable
from nous.transcript.detect import Sniffed, UnknownFormat, reader_for, reader_named, sample_of
from nous.transcript.discovery import find_transcript, is_plain_name, safe_session_id
from nous.transcript.io.byte_source import DAMAGED, ByteSource, ReadPosition, lines
from nous.transcript.model import ReadNotes, Transcript
from nous.transcript.parsing.fields import text_at
from nous.transcript.parsing.turns import RESULT_LIMIT, Finishing, extras
from nous.transcript.parsing.values import as_object, parsed

_BLANK = re.compile(r"[\s\0]*(?:\[\s*\])?[\s\0]*")


def read_transcript(
    source: str | Path | BinaryIO,
    session_id: str | None = None,
    *,
    format: str | None = None,  # noqa: A002  the option is called --format
    base: Path | str | None = None,
    result_limit: int = RESULT_LIMIT,
    include: Collection[str] = (),
    name: str = "",
) -> Transcript:
    """Read *source*: a path, an open binary stream, or the id of a session below *base*.

    With a *session_id*, *source* is the directory of all transcripts. Compressed files are decompressed. The format is
    detected unless *format* names it. Tool output is cut to *result_limit* characters. *include* adds what is skipped
    otherwise: "thinking", "meta" (what a program wrote in a person's place), "sidechains" (what was said inside
    sub-agents). *name* becomes `Transcript.source` of a stream. A blank file has no entries.

    Raises NotFound if nothing is there, BadInput if it cannot be read or is of no known format (`UnknownFormat`),
    and Unavailable if the disk fails.
    """
    finishing = Finishing(result_limit=result_limit, include=extras(include))
    if not isinstance(source, str | Path):
        return _read(source, format, finishing, source=name)
    path = located(source, session_id, base=base)
    with opened(path) as stream:
        return _read(stream, format, finishing, source=str(path), path=path)


@contextmanager
def session_content(path: Path, *, format: str | None = None) -> Generator[BinaryIO]:  # noqa: A002  as above
    """Open the file at *path*, or all files of its session as one; raises as `read_transcript`."""
    with opened(path) as stream:
        whole = None
        if stream.seekable():
            reader = reader_named(format) if format else sniffed(ByteSource.on(stream)).reader
            stream.seek(0)
            whole = reader.gather(path)
        yield stream if whole is None else io.BytesIO(whole)


def parse_transcript(
    data: bytes | str | Sequence[Mapping[str, Any]],
    *,
    format: str | None = None,  # noqa: A002  as in read_transcript
    source: str = "",
    result_limit: int = RESULT_LIMIT,
) -> Transcript:
    """Parse the content of a file or a list of messages; raises as `read_transcript`."""
    if isinstance(data, str):
        data = data.encode(errors="replace")
    if not isinstance(data, bytes):
        try:
            data = orjson.dumps([dict(message) for message in data])
        except (TypeError, ValueError) as error:
            raise BadInput(f"these messages are not JSON: {error}") from error
    return _read(io.BytesIO(data), format, Finishing(result_limit=result_limit), source=source)


def _read(
    stream: BinaryIO, name: str | None, finishing: Finishing, *, source: str, path: Path | None = None
) -> Transcript:
    byte_source = ByteSource.on(stream)
    found = Sniffed(reader_named(name), 1.0) if name else sniffed(byte_source)
    if path and (whole := found.reader.gather(path)) is not None:
        byte_source = ByteSource.on(io.BytesIO(whole))
    notes = ReadNotes()
    reading = found.reader.reading(notes)
    entries = [*finishing.entries(reading.read(byte_source.buffered(), ReadPosition()), notes)]
    entries += [*finishing.entries(reading.conclude(), notes), *finishing.conclude()]
    byte_source.drain()
    if byte_source.damage:
        notes.trouble(byte_source.damage, 0)
    return Transcript(
        format=found.reader.format,
        entries=tuple(entries),
        digest=byte_source.digest,
        bytes=byte_source.length,
        confidence=found.confidence,
        header=notes.header,
        skipped=dict(notes.skipped),
        problems=tuple(notes.problems),
        source=source,
    )


def sniffed(byte_source: ByteSource) -> Sniffed:
    """Return the reader for the content of *byte_source*; an empty list counts as a chat.

    Raises UnknownFormat; if compressed data is damaged, the message names the damage first.
    """
    try:
        sample = sample_of(byte_source)
        return Sniffed(reader_named("openai_chat"), 0.0) if _BLANK.fullmatch(sample.text) else reader_for(sample)
    except UnknownFormat as error:
        if byte_source.damage is None:
            raise
        raise UnknownFormat(
            f"{byte_source.damage}; what comes before the damage is no transcript that nous can read"
        ) from error


def located(source: str | Path, session_id: str | None = None, *, base: Path | str | None = None) -> Path:
    """Return the file *source*, or the transcript of a session; raises as `read_transcript`."""
    if session_id is not None:
        with accessing(Path(source)):
            if found := find_transcript(session_id, base=source):
                return found
        raise NotFound(f"there is no transcript of a session {session_id} in {source}")
    if "\0" in str(source) or not str(source).strip():
        raise BadInput(f"{str(source)!r} names no transcript")
    path = Path(source)
    with accessing(path):
        if path.is_dir():
            raise BadInput(f"{path} is a directory; name a transcript in it")
        if path.exists():
            return path
        if isinstance(source, Path) or path.name != source:
            raise NotFound(f"there is no file {path}")
        kept = find_transcript(safe_session_id(source), base=base)
    if kept is None:
        raise NotFound(f"there is no file {source}, nor a transcript of a session of that name")
    return kept


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """Open the file at *path* for reading; failures are those of `read_transcript`."""
    with accessing(path), path.open("rb") as stream:
        yield stream


@contextmanager
def accessing(path: Path) -> Generator[None]:
    """Translate errors of the file system into `NotFound`, `Unavailable` and `BadInput`."""
    if "\0" in str(path):
        raise BadInput(f"{str(path)!r} names no file")
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except OSError as error:
        kind = Unavailable if error.errno == errno.EIO else BadInput
        raise kind(f"{path} could not be read: {error.strerror or error}") from error


PLAIN_TEXT = "plain_text"
_ONE_SPEAKER = 0.5
"""Confidence of plain text in which all labels belong to one speaker, without an answer."""


def refusal(transcript: Transcript, *, was_told: bool = False) -> str | None:
    """Return why *transcript* is rejected, or None if it is accepted.

    The reason continues a sentence: the file "holds nothing ..." or "looks like no transcript ...". Text without a
    speaker is accepted only if the caller declared it to be a transcript (*was_told*).
    """
    if not transcript.entries:
        counted = ", ".join(f"{count} {reason}" for reason, count in transcript.skipped.items())
        return f"holds nothing that anybody said{f' (skipped: {counted})' if counted else ''}"
    if was_told or transcript.format != PLAIN_TEXT or transcript.confidence >= _ONE_SPEAKER:
        return None
    if reason := damage(transcript.skipped):
        return f"tells no speaker before it breaks off: {reason}"
    return f"looks like no transcript: no speaker was found; publish it with --format {PLAIN_TEXT} if it is one"


def damage(skipped: Mapping[str, int]) -> str | None:
    """Return why a compressed file was not fully unpacked, by *skipped*; None if it was."""
    return next((reason for reason in skipped if reason.startswith(DAMAGED)), None)


_ID_KEYS = ("session_id", "conversation_id", "id")


class SessionPart(NamedTuple):
    """One session of a file that holds many. The same line always has the same id."""

    id: str
    content: bytes


def split_sessions(path: Path, notes: ReadNotes | None = None) -> Iterator[SessionPart]:
    """Yield each session of a file with one session per line.

    Yields nothing if the file at *path* is itself one session. The first two lines decide. The id is the session's own,
    or else the file name and the line number. *notes* receive what could not be read. Raises as `read_transcript`.
    """
    notes = notes or ReadNotes()
    stem = path.name.partition(".")[0]
    with opened(path) as stream:
        byte_source = ByteSource.on(stream)
        written = (line for line in lines(byte_source.buffered(), notes, ReadPosition()) if line.data.strip())
        first = list(islice(written, 2))
        if len(first) == 2 and all(isinstance(as_object(parsed(line.data)).get("messages"), list) for line in first):
            for line in chain(first, written):
                own = text_at(as_object(parsed(line.data)), *_ID_KEYS)
                yield SessionPart(own if is_plain_name(own) else f"{stem}-{line.number}", line.data.strip())
        if byte_source.damage:
            notes.trouble(byte_source.damage, 0)
