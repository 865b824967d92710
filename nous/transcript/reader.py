"""The seam between a file format and everything else. One file in `nous/transcript/readers/` each."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple, Protocol, runtime_checkable

from nous.transcript.io.lines import Cursor, Line, lines
from nous.transcript.io.records import Record, records
from nous.transcript.model import Kind, Notes


@dataclass(slots=True)
class Draft:
    """An entry as a reader gives it. Its turn is settled later; so is its id, if another entry has it already.

    The fields are those of `Entry`.
    """

    kind: Kind
    text: str
    id: str
    time: datetime | None = None
    line: int = 0
    offset: int = 0
    tool: str | None = None
    tool_input: Mapping[str, Any] | None = None
    call_id: str | None = None
    is_error: bool = False
    paths: tuple[str, ...] = ()
    agent: str | None = None
    is_meta: bool = False


class Place(NamedTuple):
    """Where something stands, when it was said, and what its entries are called after."""

    id: str
    line: int
    offset: int
    time: datetime | None = None

    def draft(self, kind: Kind, text: str, part: int = 0, **more: Any) -> Draft:
        """The *part*-th entry that stands here."""
        own = f"{self.id}/{part}" if part else self.id
        return Draft(kind, text, own, self.time, self.line, self.offset, **more)


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, as much as is needed to tell its format.

    `text` is decoded without a byte order mark and never fails (bad bytes are replaced). `records` are the JSON objects
    found: those of the first lines, or, where the file is one JSON document, the document itself or its first elements.
    """

    text: str
    records: tuple[dict[str, Any], ...]


@dataclass(slots=True)
class Reading(ABC):
    """One session while it is read.

    All that it remembers from one record to the next is in its fields, and these hold plain values: so a reading can be
    written down, and go on in another process with what was appended since. It never raises for what a file holds: it
    skips what it cannot read, and counts that in its notes.
    """

    STANDS_HERE: ClassVar[bool] = True
    """Whether the places of its entries are in the file that is read."""

    notes: Notes = field(default_factory=Notes)

    @abstractmethod
    def read(self, stream: BinaryIO, cursor: Cursor) -> Iterator[Draft]:
        """The entries in *stream*, in file order; its first byte stands at *cursor*, which moves along."""

    def conclude(self) -> Iterable[Draft]:
        """The file ends here: what is left to say."""
        return ()


@dataclass(slots=True)
class RecordReading(Reading):
    """A reading of JSON objects, however they were written down."""

    def read(self, stream: BinaryIO, cursor: Cursor) -> Iterator[Draft]:
        for record in records(stream, self.notes, cursor, pass_over=self.pass_over):
            yield from self.entries(record)

    @abstractmethod
    def entries(self, record: Record) -> Iterable[Draft]:
        """What *record* says."""

    @staticmethod
    def pass_over(_line: bytes, /) -> str | None:
        """Why the record on this line need not even be parsed; None if it has to be."""
        return None


@dataclass(slots=True)
class LineReading(Reading):
    """A reading of text, line by line."""

    def read(self, stream: BinaryIO, cursor: Cursor) -> Iterator[Draft]:
        for line in lines(stream, self.notes, cursor):
            yield from self.entries(line)

    @abstractmethod
    def entries(self, line: Line) -> Iterable[Draft]:
        """What is complete with this *line*."""


@runtime_checkable
class Gathers(Protocol):
    """A reader of a format in which one session lies in many files."""

    def gather(self, path: Path) -> bytes | None:
        """All of the session of which the file at *path* is a part, as one file; None if it is all there is.

        Raises OSError.
        """
        ...


class Reader(Protocol):
    """Knows one format. Every module in `nous.transcript.readers` has one, named `READER`."""

    @property
    def format(self) -> str:
        """The format's name, as `--format` takes it."""
        ...

    def sniff(self, sample: Sample) -> float:
        """How sure it is that this is its format: from 0 (not at all) to 1 (nothing else looks like this)."""
        ...

    def begin(self, notes: Notes) -> Reading:
        """A reading of a file from its first byte."""
        ...
