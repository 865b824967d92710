"""The seam between a file format and everything else. One file in `nous/transcript/readers/` each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Protocol

from nous.transcript.model import Entry, Header, Problem

MOST_PROBLEMS = 100
"""How many unreadable lines are named one by one; the rest are only counted."""


@dataclass(slots=True)
class Notes:
    """What a reader learns on the way besides entries: the session's header, and what it passed over, by reason."""

    header: Header = field(default_factory=Header)
    skipped: Counter[str] = field(default_factory=Counter[str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def skip(self, reason: str) -> None:
        """Count something that was passed over on purpose."""
        self.skipped[reason] += 1

    def trouble(self, reason: str, line: int) -> None:
        """Count something that could not be read, and name its line."""
        self.skipped[reason] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, reason))

    def learn(self, **said: str | int | None) -> None:
        """Add to the header what is not known yet."""
        new = {name: value for name, value in said.items() if value and getattr(self.header, name) is None}
        if new:
            self.header = replace(self.header, **new)  # pyright: ignore[reportArgumentType] fields are str | int | None


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, as much as is needed to tell its format.

    `text` is decoded without a byte order mark and never fails (bad bytes are replaced). `records` are the JSON objects
    found: those of the first lines, or, where the file is one JSON document, the document itself or its first elements.
    """

    text: str
    records: tuple[dict[str, Any], ...]
    is_json_lines: bool


class Reader(Protocol):
    """Reads one format. Every module in `nous.transcript.readers` has one, named `READER`."""

    @property
    def format(self) -> str:
        """The format's name, as `--format` takes it."""
        ...

    def sniff(self, sample: Sample) -> float:
        """How sure it is that this is its format: from 0 (not at all) to 1 (nothing else looks like this)."""
        ...

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        """Yield the entries in file order; `turn` is set later by the caller.

        Never raises for what the file holds: it skips what it cannot read and counts that in *notes*.
        """
        ...
