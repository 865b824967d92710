"""Reading a file that is still written, from where the last reading stopped.

The last turn is provisional: more may be said in it, so it is read again and replaced. What came before it is settled,
and a resume point holds what a reading has to remember of it. The whole is read twice as far as it is new: once to see
where the last turn begins, and once to stop there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from nous.transcript.detect import reader_named
from nous.transcript.io.byte_source import Tap, is_packed
from nous.transcript.io.lines import Cursor, Window
from nous.transcript.io.records import is_one_a_line
from nous.transcript.load import located, opened, sniffed
from nous.transcript.model import Entry, Header, Notes, Problem
from nous.transcript.parsing.turns import Finishing, extras
from nous.transcript.reader import LineReading, Reading

_CHECKED = 4_096


class Change(StrEnum):
    """What has become of a file since it was read last."""

    FIRST = "read for the first time"
    UNCHANGED = "unchanged"
    GROWN = "grown"
    SHRUNK = "shrunk: it is read anew"
    REWRITTEN = "rewritten before the point where reading stopped: it is read anew"
    FORGOTTEN = "the resume point is of another release: it is read anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """Where to go on: before the byte *offset*, on *line*, *kept* entries are settled, the last of them called *last*.

    The *format* was named by the caller or told from the content, and *include* is what the caller asked for.
    *size* is how long the file was. *check* tells whether what stands before the offset is still the same, and *state*
    is what the reading remembers of it. All fields are plain JSON values.
    """

    format: str
    is_named: bool
    include: Sequence[str]
    offset: int
    line: int
    kept: int
    last: str | None
    size: int
    check: str
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a file says beyond the first *keep* entries that were known of it, up to the one called *last*.

    The rest of what was known is replaced.

    `header`, `skipped` and `problems` are of the whole file, as in a `Transcript`.
    """

    change: Change
    keep: int
    last: str | None
    entries: tuple[Entry, ...]
    header: Header
    skipped: Mapping[str, int]
    problems: tuple[Problem, ...]
    resume: ResumePoint

    def applied_to(self, known: Sequence[Entry]) -> tuple[Entry, ...]:
        """All entries of the file, given those that were known when the resume point was made.

        Raises ValueError if these are not the ones that it was made of.
        """
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
    """What the transcript *source* says beyond the point that an earlier call gave; all of it without one.

    Reading on gives the same entries as reading the whole at once. A file in which records do not stand on lines (an
    array, one object, a packed file) has no such point but its beginning, so it is read whole each time. Format and
    *include* are those of the first call. Raises as `read_transcript`, and UnknownFormat as long as the file does not
    hold enough to tell.
    """
    with opened(located(source, base=base)) as stream:
        size = stream.seek(0, SEEK_END)
        change = _change(since, stream, size)
        if since and since.offset and change in _GOES_ON:
            if start := _taken_up(since.format, since.state):
                return _growth(stream, start, since, change, size)
            change = Change.FORGOTTEN
        if since:
            # Read anew, and what the format is looked at again: at first the file may have held next to nothing.
            format, include = (since.format if since.is_named else None), since.include  # noqa: A001  as above
        fresh, point = _beginning(stream, format, include)
        return _growth(stream, fresh, point, change, size)


_GOES_ON = frozenset({Change.UNCHANGED, Change.GROWN})


@dataclass(slots=True)
class _Stand:
    """How far a reading has come, and what it remembers of what it read."""

    reading: Reading
    finishing: Finishing

    def read(self, stream: BinaryIO, begin: Cursor, end: int) -> list[Entry]:
        """The entries that are complete with what stands from *begin* up to the offset *end*."""
        window = Window.on(stream, begin.offset, end)
        if begin.offset:
            return self._entries(window, begin)
        tap = Tap.on(window)
        entries = self._entries(tap.buffered(), begin)
        if tap.damage:
            self.reading.notes.trouble(tap.damage, 0)
        return entries

    def _entries(self, stream: BinaryIO, begin: Cursor) -> list[Entry]:
        drafts = self.reading.read(stream, Cursor(begin.line, begin.offset))
        return list(self.finishing.entries(drafts, self.reading.notes))

    def conclude(self) -> list[Entry]:
        rest = list(self.finishing.entries(self.reading.conclude(), self.reading.notes))
        return [*rest, *self.finishing.conclude()]

    def written_down(self) -> dict[str, Any]:
        parts: tuple[Reading | Finishing, ...] = (self.reading, self.finishing)
        reading, finishing = (TypeAdapter(type(part)).dump_python(part, mode="json") for part in parts)
        return {"reading": reading, "finishing": finishing}


def _beginning(stream: BinaryIO, name: str | None, include: Collection[str]) -> tuple[_Stand, ResumePoint]:
    stream.seek(0)
    found = name or sniffed(Tap.on(stream)).reader.format
    fresh = _Stand(reader_named(found).begin(Notes()), Finishing(include=extras(include)))
    point = ResumePoint(
        format=found,
        is_named=name is not None,
        include=tuple(sorted(include)),
        offset=0,
        line=1,
        kept=0,
        last=None,
        size=0,
        check="",
        state=fresh.written_down(),
    )
    return fresh, point


def _taken_up(name: str, state: Mapping[str, Any]) -> _Stand | None:
    """The stand that was written down as *state*; None if it was by a release that remembered something else."""
    kind = type(reader_named(name).begin(Notes()))
    try:
        reading = TypeAdapter(kind).validate_python(state.get("reading"))
        finishing = TypeAdapter(Finishing).validate_python(state.get("finishing"))
    except ValidationError:
        return None
    return _Stand(reading, finishing)


def _change(since: ResumePoint | None, stream: BinaryIO, size: int) -> Change:
    if since is None:
        return Change.FIRST
    if size < since.size:
        return Change.SHRUNK
    if _check(stream, since.offset) != since.check:
        return Change.REWRITTEN
    return Change.UNCHANGED if size == since.size else Change.GROWN


def _growth(stream: BinaryIO, stand: _Stand, point: ResumePoint, change: Change, size: int) -> Growth:
    begun = stand.finishing.turn
    entries = [*stand.read(stream, Cursor(point.line, point.offset), size), *stand.conclude()]
    notes = stand.reading.notes
    return Growth(
        change=change,
        keep=point.kept,
        last=point.last,
        entries=tuple(entries),
        header=notes.header,
        skipped=dict(notes.skipped),
        problems=tuple(notes.problems),
        resume=_settled(stream, point, entries, begun=begun, size=size),
    )


def _settled(stream: BinaryIO, point: ResumePoint, entries: Sequence[Entry], *, begun: int, size: int) -> ResumePoint:
    """The point before the last turn of *entries*, if a later one than *point* was reached and can be gone on from."""
    same = replace(point, size=size, check=_check(stream, point.offset))
    last_turn = entries[-1].turn if entries else begun
    prompt = next((entry for entry in entries if entry.turn == last_turn), None)
    if prompt is None or last_turn == begun or prompt.offset <= point.offset or not _can_go_on(stream, point):
        return same
    if not _begins_a_line(stream, prompt.offset):
        return same
    stand = _taken_up(point.format, point.state)
    settled = stand.read(stream, Cursor(point.line, point.offset), prompt.offset) if stand else []
    if stand is None or not settled or settled != list(entries[: len(settled)]):
        return same
    return replace(
        same,
        offset=prompt.offset,
        line=prompt.line,
        kept=point.kept + len(settled),
        last=settled[-1].id,
        check=_check(stream, prompt.offset),
        state=stand.written_down(),
    )


def _begins_a_line(stream: BinaryIO, offset: int) -> bool:
    stream.seek(offset - 1)
    return stream.read(1) == b"\n"


def _can_go_on(stream: BinaryIO, point: ResumePoint) -> bool:
    """Whether records stand on lines; where reading went on once, they do."""
    if point.offset:
        return True
    if stream.seek(0) == 0 and is_packed(stream.read(8)):
        return False
    stream.seek(0)
    reading = reader_named(point.format).begin(Notes())
    return reading.STANDS_HERE and (isinstance(reading, LineReading) or is_one_a_line(stream))


def _check(stream: BinaryIO, offset: int) -> str:
    """What tells whether the bytes before *offset* are still the same: a digest of the first and the last of them."""
    digest = sha256()
    for begin in {0, max(0, offset - _CHECKED)}:
        stream.seek(begin)
        digest.update(stream.read(min(_CHECKED, offset - begin)))
    return digest.hexdigest()
