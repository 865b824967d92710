"""Records as the lines of a session file, and what is read from them."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson

from nous.samples import bundled_sessions
from nous.transcript import Kind, Transcript, known_readers, read_transcript

SAMPLES = Path(__file__).parents[1] / "transcripts" / "samples"
FORMATS = sorted(known_readers())

Record = dict[str, Any]
Said = list[tuple[Kind, str]]


def as_lines(*records: Record) -> bytes:
    return b"".join(orjson.dumps(found) + b"\n" for found in records)


def read_as(name: str | None, *records: Record, include: Iterable[str] = ()) -> Transcript:
    """The transcript of a file of the format *name* (None: found out) with these *records*."""
    return read_transcript(BytesIO(as_lines(*records)), format=name, include=tuple(include))


def said(transcript: Transcript) -> Said:
    return [(entry.kind, entry.text) for entry in transcript]


def outcome(transcript: Transcript) -> tuple[Kind, str] | str:
    """The last thing that is said; if nothing is, the reasons why."""
    return said(transcript)[-1] if transcript.entries else ", ".join(transcript.skipped)


def samples_of(name: str) -> list[Path]:
    """Single sessions of the format *name*: those that belong to the package, and those beside the tests."""
    bundled = [path for path in bundled_sessions() if path.parent.name == name]
    kept = sorted(path for path in (SAMPLES / name).glob("*") if path.is_file() and path.name != "SOURCE.txt")
    return bundled + kept
