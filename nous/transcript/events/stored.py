"""Events as they stand in a file."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nous.transcript.events.base import TranscriptEvent
from nous.transcript.events.wire import STAMP, EventCodec
from nous.transcript.input.lines import Cursor
from nous.transcript.input.records import records
from nous.transcript.input.tap import Tap
from nous.transcript.notes import Notes
from nous.transcript.read import located, opened
from nous.transcript.reading.timestamps import parse_time


class StoredEvent(NamedTuple):
    """An event, when it happened, and the line on which it stands."""

    event: TranscriptEvent
    time: datetime | None
    line: int


def read_events(
    source: str | Path | BinaryIO, *, base: Path | str | None = None, notes: Notes | None = None
) -> Iterator[StoredEvent]:
    """The events in the transcript *source*, a path, an open stream or the id of a session, in the order of the file.

    Lines, a pretty array, and an array with lines after it are all read. What is damaged is passed over, counted in
    *notes*, and costs nothing else. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from _events(stream, notes or Notes())
    else:
        yield from _events(source, notes or Notes())


def _events(stream: BinaryIO, notes: Notes) -> Iterator[StoredEvent]:
    codec = EventCodec()
    for record in records(Tap.on(stream).buffered(), notes, Cursor()):
        yield StoredEvent(codec.decode(record.value), parse_time(record.value.get(STAMP)), record.line)
