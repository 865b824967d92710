"""Read a growing session file from a resume point; the last turn is read again and replaced.

More may be added to the last turn, so the next read replaces it. Earlier turns are settled, and a resume point holds
the parser state after them. New content is read twice: to find where the last turn begins, and to stop there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from nous.transcript.detect import reader_named
from nous.transcript.io.byte_source import ByteSource, ReadPosition, is_packed
from nous.transcript.io.records import is_one_a_line
from nous.transcript.load import located, opened, sniffed
from nous.transcript.model import Entry, Header, Problem, ReadNotes
from nous.transcript.parsing.turns import Finishing, extras
from nous.transcript.reader import LineReading, Reading

_CHECKED = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """Checkpoint of an incremental read: continue at the byte *offset*, on *line*.

    *kept* entries before it are settled, and *last* is the id of the last of them. *check* is a digest of content
    before the offset, to detect a rewrite. *state* is the serialized parser state. All fields are plain JSON values.
    """

    format: str
    state: Mapping[str, Any]
    offset: int = 0
    line: int = 1
    kept: int = 0
    last: str | None = None
    check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Result of an incremental read: new entries after the first *keep* known ones.

    The new entries replace all known ones after the one with the id *last*. `header`, `skipped` and `problems`
    describe the whole file, as in a `Transcript`.
    """

    keep: int
    last: str | None
    entries: tuple[Entry, ...]
    header: Header
    skipped: Mapping[str, int]
    problems: tuple[Problem, ...]
    resume: ResumePoint

    def applied_to(self, known: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return all entries of the file; raises ValueError if *known* are other ones."""
        if self.keep > len(known) or (self.keep and known[self.keep - 1].id != self.last):
            raise ValueError(f"the first {self.keep} of these {len(known)} entries are not those that were kept")
        return (*known[: self.keep], *self.entries)


def follow(
    source: str | Path,
    since: ResumePoint | None = None,
    *,
    base: Path | str | None = None,
    format: str | None = None,  # noqa: A002  as in read_transcript
    include: Collection[str] = (),
) -> Growth:
    """Read what the transcript *source* gained since the resume point *since*.

    Without *since*, the whole file is read, and so is a file that was rewritten before that point, or one without
    one record per line (an array, one object, a compressed file). Incremental reads with the same *format* and
    *include* give the same entries as one full read. Raises as `read_transcript`, and UnknownFormat while the file
    is too short.
    """
    with opened(located(source, base=base)) as stream:
        size = stream.seek(0, SEEK_END)
        is_unchanged = since is not None and since.offset > 0 and _check(stream, since.offset) == since.check
        parser_state = _restored(since) if since and is_unchanged else None
        if since and parser_state:
            return _growth(stream, parser_state, since, size)
        stream.seek(0)
        found = format or sniffed(ByteSource.on(stream)).reader.format
        fresh = _ParserState(reader_named(found).reading(ReadNotes()), Finishing(include=extras(include)))
        return _growth(stream, fresh, ResumePoint(format=found, state=fresh.serialized()), size)


@dataclass(slots=True)
class _ParserState:
    reading: Reading
    finishing: Finishing

    def read(self, stream: BinaryIO, point: ResumePoint, end: int) -> list[Entry]:
        """Return the entries that are complete between *point* and the byte offset *end*."""
        stream.seek(point.offset)
        window = ByteSource(lambda size: stream.read(min(size, end - stream.tell())))
        byte_source = ByteSource.on(window.buffered())
        drafts = self.reading.read(byte_source.buffered(), ReadPosition(point.line, point.offset))
        entries = list(self.finishing.entries(drafts, self.reading.notes))
        if byte_source.damage:
            self.reading.notes.trouble(byte_source.damage, 0)
        return entries

    def serialized(self) -> dict[str, Any]:
        parts: tuple[Reading | Finishing, ...] = (self.reading, self.finishing)
        reading, finishing = (TypeAdapter(type(part)).dump_python(part, mode="json") for part in parts)
        return {"reading": reading, "finishing": finishing}


def _restored(point: ResumePoint) -> _ParserState | None:
    """Return the parser state at *point*; None if it is from a release with other fields."""
    kind = reader_named(point.format).reading
    try:
        reading = TypeAdapter(kind).validate_python(point.state.get("reading"))
        finishing = TypeAdapter(Finishing).validate_python(point.state.get("finishing"))
    except ValidationError:
        return None
    return _ParserState(reading, finishing)


def _growth(stream: BinaryIO, parser_state: _ParserState, point: ResumePoint, size: int) -> Growth:
    reading, finishing, notes = parser_state.reading, parser_state.finishing, parser_state.reading.notes
    begun = finishing.turn
    entries = parser_state.read(stream, point, size)
    entries += [*finishing.entries(reading.conclude(), notes), *finishing.conclude()]
    return Growth(
        keep=point.kept,
        last=point.last,
        entries=tuple(entries),
        header=notes.header,
        skipped=dict(notes.skipped),
        problems=tuple(notes.problems),
        resume=_settled(stream, point, entries, begun),
    )


def _settled(stream: BinaryIO, point: ResumePoint, entries: Sequence[Entry], begun: int) -> ResumePoint:
    """Return the point before the last turn of *entries*; *point* itself if it cannot be there."""
    last_turn = entries[-1].turn if entries else begun
    prompt = next((entry for entry in entries if entry.turn == last_turn), None)
    if prompt is None or last_turn == begun or not _can_go_on(stream, point, prompt.offset):
        return point
    parser_state = _restored(point)
    settled = parser_state.read(stream, point, prompt.offset) if parser_state else []
    if parser_state is None or not settled or settled != list(entries[: len(settled)]):
        return point
    return replace(
        point,
        offset=prompt.offset,
        line=prompt.line,
        kept=point.kept + len(settled),
        last=settled[-1].id,
        check=_check(stream, prompt.offset),
        state=parser_state.serialized(),
    )


def _can_go_on(stream: BinaryIO, point: ResumePoint, offset: int) -> bool:
    """Return whether *offset* begins a line, in a file with one record per line."""
    stream.seek(max(0, offset - 1))
    if offset <= point.offset or stream.read(1) != b"\n":
        return False
    if point.offset:
        return True
    stream.seek(0)
    if is_packed(stream.read(8)):
        return False
    stream.seek(0)
    reading = reader_named(point.format).reading
    return issubclass(reading, LineReading) or is_one_a_line(stream)


def _check(stream: BinaryIO, offset: int) -> str:
    """Return a digest of the first and the last bytes before *offset*, to detect a rewrite."""
    digest = sha256()
    for begin in {0, max(0, offset - _CHECKED)}:
        stream.seek(begin)
        digest.update(stream.read(min(_CHECKED, offset - begin)))
    return digest.hexdigest()
