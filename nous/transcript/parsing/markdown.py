"""Find fences of code in lines of Markdown; collect a message's text up to a limit."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from nous.transcript.io.byte_source import Line
from nous.transcript.parsing.turns import TEXT_LIMIT

LONGEST = 2 * TEXT_LIMIT  # limit in characters kept of one message while it is read

_FENCE = re.compile(r" {0,3}(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)


class TextLine(NamedTuple):
    """A line without its ending, its number (from 1), and its offset in bytes."""

    number: int
    offset: int
    text: str

    @classmethod
    def of(cls, line: Line) -> Self:
        return cls(line.number, line.offset, line.data.decode(errors="replace").replace("\0", "").rstrip("\r\n"))


@dataclass(slots=True)
class BoundedText:
    """The lines of a message, as far as there is room for them."""

    lines: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, text: str) -> bool:
        room = LONGEST - self.size
        self.size += len(text)
        if room > 0:
            self.lines.append(text[:room])
        return len(text) <= room


class MarkdownFence(NamedTuple):
    """A line that opens fenced code, or closes it if `info` is empty."""

    run: str
    info: str

    def closes(self, opened: str) -> bool:
        """Return whether this line closes the code that the run *opened* started."""
        return not self.info and self.run[:1] == opened[:1] and len(self.run) >= len(opened)


def fence_in(text: str) -> MarkdownFence | None:
    found = _FENCE.match(text) if "```" in text or "~~~" in text else None
    if found is None or (found["run"].startswith("`") and "`" in found["info"]):
        return None
    return MarkdownFence(found["run"], found["info"].strip())
