"""Read many session files; return totals per detected format, and the refused files."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from time import process_time

from nous.domain.errors import BadInput
from nous.transcript.discovery import below
from nous.transcript.load import read_transcript, refusal
from nous.transcript.model import Kind


@dataclass(slots=True)
class Row:
    """Totals of the files of one format. `seconds` are CPU time."""

    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    entries: Counter[Kind] = field(default_factory=Counter[Kind])
    skipped: Counter[str] = field(default_factory=Counter[str])
    problems: int = 0


@dataclass(frozen=True, slots=True)
class Survey:
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    refused: dict[Path, str] = field(default_factory=dict[Path, str])


def survey(paths: Iterable[Path], *, clock: Callable[[], float] = process_time) -> Survey:
    """Read every file in and below *paths*; refuse those without a session, and bad folders."""
    found = Survey()
    refuse = found.refused.__setitem__
    for path in chain.from_iterable(below(path, refuse) if path.is_dir() else (path,) for path in paths):
        began = clock()
        try:
            transcript = read_transcript(path)
        except BadInput as error:
            found.refused[path] = str(error)
            continue
        if reason := refusal(transcript):
            found.refused[path] = f"it {reason}"
            continue
        row = found.rows.setdefault(transcript.format, Row())
        row.files += 1
        row.bytes += transcript.bytes
        row.seconds += clock() - began
        row.entries.update(entry.kind for entry in transcript)
        row.skipped.update(transcript.skipped)
        row.problems += len(transcript.problems)
    return found
