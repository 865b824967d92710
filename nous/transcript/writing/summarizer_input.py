"""From a transcript on disk to the text that a summarizer is given."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from nous.transcript.events.stored import read_events
from nous.transcript.model import Transcript
from nous.transcript.read import located, opened, read_transcript
from nous.transcript.readers.qbit import READER as QBIT
from nous.transcript.writing.text_form import Style, format_for_summarizer


def build_summarizer_input(
    source: str | Path | BinaryIO,
    *,
    base: Path | str | None = None,
    format: str | None = None,  # noqa: A002  as in read_transcript
    style: Style = "current",
    paired: bool = False,
    look: Callable[[Transcript], object] = lambda _: None,
) -> str:
    """The text form of the transcript *source*: a path, an open stream, or the id of a session kept below *base*.

    A transcript of events is told event by event; of any other format, its entries are. *look* is shown the transcript
    that was read. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        path = located(source, base=base)
        with opened(path) as stream:
            return _text(_again(stream), format, style, look, paired=paired)
    return _text(_again(source), format, style, look, paired=paired)


def _again(stream: BinaryIO) -> BinaryIO:
    """*stream*, so that it can be read twice."""
    return stream if stream.seekable() else BytesIO(stream.read())


def _text(
    stream: BinaryIO, name: str | None, style: Style, look: Callable[[Transcript], object], *, paired: bool
) -> str:
    transcript = read_transcript(stream, format=name)
    look(transcript)
    if transcript.format != QBIT.format:
        return format_for_summarizer(transcript, style=style, paired=paired)
    stream.seek(0)
    return format_for_summarizer((stored.event for stored in read_events(stream)), style=style, paired=paired)
