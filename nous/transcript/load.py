"""Reading a transcript, wherever it is and whatever wrote it."""

import errno
import io
import re
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from nous.domain.errors import BadInput, NotFound, Unavailable
from nous.transcript.detect import Sniffed, UnknownFormat, reader_for, reader_named, sample_of
from nous.transcript.discovery import find_transcript, safe_session_id, sub_agents_beside
from nous.transcript.io.byte_source import DAMAGED, Tap
from nous.transcript.io.lines import Cursor, Line, lines
from nous.transcript.model import Entry, Kind, Notes, Transcript
from nous.transcript.parsing.turns import RESULT_LIMIT, Finishing, extras
from nous.transcript.parsing.values import as_object, as_text
from nous.transcript.reader import Gathers, Reader

_BLANK = re.compile(r"[\s\0]*(?:\[\s*\])?[\s\0]*")


def read_transcript(
    source: str | Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002  the option is called --format
    base: Path | str | None = None,
    result_limit: int = RESULT_LIMIT,
    include: Collection[str] = (),
    name: str = "",
) -> Transcript:
    """Read *source*: a path (gzip or not), an open binary stream, or the id of a session kept below *base*.

    The format is told from the content unless *format* names it. Of tool output, at most *result_limit* characters are
    kept. *include* asks for what is passed over otherwise: "thinking", "meta" (what a program wrote in somebody's
    place), "sidechains" (what was said inside of sub-agents). *name* is what `Transcript.source` says of a stream. A
    blank file gives a transcript without entries.

    Raises NotFound if nothing is there, BadInput if it cannot be read or is of no known format (`UnknownFormat`), and
    Unavailable if the disk fails.
    """
    finishing = Finishing(result_limit=result_limit, include=extras(include))
    if not isinstance(source, str | Path):
        return _read(source, format, finishing, source=name)
    path = located(source, base=base)
    with opened(path) as stream:
        transcript = _read(stream, format, finishing, source=str(path), path=path)
        return replace(transcript, sub_agents=sub_agents_beside(path, transcript.entries))


@contextmanager
def session_content(path: Path, *, format: str | None = None) -> Generator[BinaryIO]:  # noqa: A002  as above
    """The file at *path*, or, of a session that lies in many files, all of them as one. Raises as `read_transcript`."""
    with opened(path) as stream:
        whole = _gathered(path, stream, format)
        yield stream if whole is None else io.BytesIO(whole)


def _gathered(path: Path, stream: BinaryIO, name: str | None) -> bytes | None:
    if not stream.seekable():
        return None
    reader = reader_named(name) if name else sniffed(Tap.on(stream)).reader
    stream.seek(0)
    return reader.gather(path) if isinstance(reader, Gathers) else None


def parse_transcript(
    data: bytes | str | Sequence[Mapping[str, Any]],
    *,
    format: str | None = None,  # noqa: A002  as in read_transcript
    source: str = "",
    result_limit: int = RESULT_LIMIT,
) -> Transcript:
    """Read a transcript that is at hand: the content of a file, or a list of messages. Raises as `read_transcript`.

    The digest of a list is that of its compact JSON.
    """
    return _read(io.BytesIO(_content(data)), format, Finishing(result_limit=result_limit), source=source)


def _content(data: bytes | str | Sequence[Mapping[str, Any]]) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode(errors="replace")
    try:
        return orjson.dumps([dict(message) for message in data])
    except (TypeError, ValueError) as error:
        raise BadInput(f"these messages are not JSON: {error}") from error


def _read(
    stream: BinaryIO, name: str | None, finishing: Finishing, *, source: str, path: Path | None = None
) -> Transcript:
    tap = Tap.on(stream)
    found = Sniffed(reader_named(name), 1.0) if name else sniffed(tap)
    if path and isinstance(found.reader, Gathers) and (whole := found.reader.gather(path)) is not None:
        tap = Tap.on(io.BytesIO(whole))
    notes = Notes()
    entries = tuple(_entries(found.reader, tap.buffered(), notes, finishing))
    tap.drain()
    if tap.damage:
        notes.trouble(tap.damage, 0)
    return Transcript(
        format=found.reader.format,
        entries=entries,
        digest=tap.digest,
        bytes=tap.length,
        confidence=found.confidence,
        header=notes.header,
        skipped=dict(notes.skipped),
        problems=tuple(notes.problems),
        source=source,
    )


def _entries(reader: Reader, stream: BinaryIO, notes: Notes, finishing: Finishing) -> Iterator[Entry]:
    reading = reader.begin(notes)
    yield from finishing.entries(reading.read(stream, Cursor()), notes)
    yield from finishing.entries(reading.conclude(), notes)
    yield from finishing.conclude()


def sniffed(tap: Tap) -> Sniffed:
    """The reader for what *tap* holds. An empty list is a chat in which nobody has said anything yet.

    Raises UnknownFormat, which blames packed data that turned out to be damaged before what was packed.
    """
    try:
        sample = sample_of(tap)
        return Sniffed(reader_named("openai_chat"), 0.0) if _BLANK.fullmatch(sample.text) else reader_for(sample)
    except UnknownFormat as error:
        if tap.damage is None:
            raise
        raise UnknownFormat(
            f"{tap.damage}; what comes before the damage is no transcript that nous can read"
        ) from error


def located(source: str | Path, *, base: Path | str | None = None) -> Path:
    """The file *source*, or the transcript of the session that it is the id of. Raises as `read_transcript`."""
    if "\0" in str(source) or not str(source).strip():
        raise BadInput(f"{str(source)!r} names no transcript")
    path = Path(source)
    with _translated(path):
        if path.exists():
            return _usable(path)
        if isinstance(source, Path) or path.name != source:
            raise NotFound(f"there is no file {path}")
        kept = find_transcript(safe_session_id(source), base=base)
    if kept is None:
        raise NotFound(f"there is no file {source}, nor a transcript of a session of that name")
    return kept


def _usable(path: Path) -> Path:
    if path.is_dir():
        raise BadInput(f"{path} is a directory; name a transcript in it")
    if not (path.is_file() or path.is_fifo()):
        raise BadInput(f"{path} is a device, not a file")
    return path


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """The file at *path*, whose failures are those of `read_transcript`."""
    with _translated(path), path.open("rb") as stream:
        yield stream


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except PermissionError as error:
        raise BadInput(f"{path} may not be read by this user: permission denied") from error
    except OSError as error:
        kind = Unavailable if error.errno == errno.EIO else BadInput
        raise kind(f"{path} could not be read: {error.strerror or error}") from error


PLAIN_TEXT = "plain_text"
_ONE_SPEAKER = 0.5
"""How sure plain text is to be that where all its labels are those of one speaker, whom nobody has answered."""


def refusal(transcript: Transcript, *, was_told: bool = False) -> str | None:
    """Why *transcript* is not taken: it "holds nothing" or "looks like" none; None if it is.

    A text that tells no speaker is taken where it *was told* that it is a transcript.
    """
    if not transcript.entries:
        return f"holds nothing that anybody said{_in_words(transcript.skipped)}"
    if not was_told and _tells_no_speaker(transcript):
        if reason := damage(transcript.skipped):
            return f"tells no speaker before it breaks off: {reason}"
        return f"looks like no transcript: no speaker was found; publish it with --format {PLAIN_TEXT} if it is one"
    return None


def damage(skipped: Mapping[str, int]) -> str | None:
    """Of what was *skipped*, that the rest of a packed file could not be unpacked, and why; None if all of it was."""
    return next((reason for reason in skipped if reason.startswith(DAMAGED)), None)


def _tells_no_speaker(transcript: Transcript) -> bool:
    """Whether it is a mere text, all of which was taken for what a user said. A label in fenced code is none."""
    is_one_turn = [entry.kind for entry in transcript.entries] == [Kind.USER]
    return transcript.format == PLAIN_TEXT and is_one_turn and transcript.confidence != _ONE_SPEAKER


def _in_words(skipped: Mapping[str, int]) -> str:
    counted = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
    return f" (skipped: {counted})" if counted else ""


_ID_KEYS = ("session_id", "conversation_id", "id")


class Session(NamedTuple):
    """One session of a file, named so that the same line has the same name each time."""

    id: str
    content: bytes


def split_sessions(path: Path, notes: Notes | None = None) -> Iterator[Session]:
    """Each session of a file in which every line is one; nothing if the file at *path* is itself one session.

    The first two lines decide. A session is called by its own id, or else after the file and the line. *notes* are
    told in the end what could not be read. Raises as `read_transcript`.
    """
    notes = notes or Notes()
    stem = path.name.partition(".")[0]
    with opened(path) as stream:
        tap = Tap.on(stream)
        written = (line for line in lines(tap.buffered(), notes, Cursor()) if line.data.strip())
        first = list(islice(written, 2))
        if len(first) == 2 and all(isinstance(_object(line).get("messages"), list) for line in first):
            for line in chain(first, written):
                yield Session(_own_id(line) or f"{stem}-{line.number}", line.data.strip())
        if tap.damage:
            notes.trouble(tap.damage, 0)


def _object(line: Line) -> dict[str, Any]:
    try:
        return as_object(orjson.loads(line.data))
    except orjson.JSONDecodeError:
        return {}


def _own_id(line: Line) -> str | None:
    """The id that the session gives itself, if it can be used as one."""
    record = _object(line)
    own = next((value for key in _ID_KEYS if (value := as_text(record.get(key)))), None)
    try:
        return own and safe_session_id(own)
    except BadInput:
        return None
