"""Interface of format readers: score a sample's match, parse a stream into draft entries."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

from nous.transcript.io.byte_source import ReadPosition, lines
from nous.transcript.io.records import records
from nous.transcript.model import Kind, ReadNotes


@dataclass(slots=True)
class Draft:
    """An `Entry` without a turn; its id changes only if another entry already has it."""

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


class RecordPlace(NamedTuple):
    """Position, time and id prefix of the entries in one record."""

    id: str
    line: int
    offset: int
    time: datetime | None = None

    def draft(self, kind: Kind, text: str, part: int = 0, **more: Any) -> Draft:
        own = f"{self.id}/{part}" if part else self.id
        return Draft(kind, text, own, self.time, self.line, self.offset, **more)


@dataclass(frozen=True, slots=True)
class Sample:
    """Beginning of a file, long enough to detect its format.

    `text` is decoded without a byte order mark; invalid bytes are replaced. `records` are the JSON objects of the
    first lines, or, if the file is one JSON document, the document or its first elements.
    """

    text: str
    records: tuple[dict[str, Any], ...]

    def share(self, likeness: Callable[[Mapping[str, Any]], float]) -> float:
        """Return the mean *likeness* of the records, or the share that is alike; there must be some."""
        return sum(map(likeness, self.records)) / len(self.records)


@dataclass(slots=True)
class Reading(ABC):
    """State of one session while it is parsed.

    All state that outlives a record is in the fields, as plain values, so another process can continue a reading
    with appended content. It never raises for the content of a file: it skips and counts what it cannot read.
    """

    notes: ReadNotes = field(default_factory=ReadNotes)

    split: ClassVar[Callable[[BinaryIO, ReadNotes, ReadPosition], Iterator[Any]]]

    def read(self, stream: BinaryIO, cursor: ReadPosition) -> Iterator[Draft]:
        """Yield the entries in *stream*, in file order; it begins at *cursor*, which advances."""
        for piece in self.split(stream, self.notes, cursor):
            yield from self.entries(piece)

    @abstractmethod
    def entries(self, piece: Any, /) -> Iterable[Draft]:
        """Return the entries that *piece* completes: a record, or a line."""

    def conclude(self) -> Iterable[Draft]:
        return ()


class RecordReading(Reading):
    split = staticmethod(records)


class LineReading(Reading):
    split = staticmethod(lines)


@dataclass(frozen=True)
class FormatReader:
    """Reader of one format. Every module in `nous.transcript.readers` has one, named `READER`.

    `format` is the name that `--format` takes. `confidence` is the certainty, up to 1, that a sample has this
    format. It is asked for samples with records if the readings parse records, otherwise for those without. If one
    session spans many files, `gather` joins them; it returns None for a file that is the whole session, and raises
    OSError.
    """

    format: str
    confidence: Callable[[Sample], float]
    reading: type[Reading]
    gather: Callable[[Path], bytes | None] = lambda _: None

    def sniff(self, sample: Sample) -> float:
        is_of_records = issubclass(self.reading, RecordReading)
        return self.confidence(sample) if bool(sample.records) is is_of_records else 0.0
