"""Classify lines of Markdown as fenced code or text; collect a message's text up to a limit."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from nous.transcript.io.byte_source import Line
from nous.transcript.parsing.turns import TEXT_LIMIT

LONGEST = 2 * TEXT_LIMIT  # limit in characters kept of one message while it is read

MOST_HELD = 4_000_000
"""Limit in characters for lines held back inside an open fence. A fence around more was left open by mistake."""

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
        return not self.info and self.is_like(opened)

    def is_like(self, opened: str) -> bool:
        return self.run[:1] == opened[:1] and len(self.run) >= len(opened)


def fence_in(text: str) -> MarkdownFence | None:
    found = _FENCE.match(text) if "```" in text or "~~~" in text else None
    if found is None or (found["run"].startswith("`") and "`" in found["info"]):
        return None
    return MarkdownFence(found["run"], found["info"].strip())


@dataclass(slots=True)
class Fences:
    """Classifies lines as fenced code (True) or text (False).

    Authors forget to close fences. So inside of a fence, lines are held back from the first *mark* on: a line that
    has a meaning outside of code. They are code if the fence is closed, and text if another opens or the input
    ends.
    """

    opened: str = ""
    held: list[TextLine] = field(default_factory=list[TextLine])
    size: int = 0

    def classify(self, line: TextLine, *, is_mark: bool) -> list[tuple[TextLine, bool]]:
        """Return the lines that can be classified by now; *is_mark* matters in code only."""
        fence = fence_in(line.text)
        if not self.opened:
            self.opened = fence.run if fence else ""
            return [(line, False)]
        if self.held and fence and fence.info and fence.is_like(self.opened):
            return [*self.rest(), *self.classify(line, is_mark=is_mark)]
        closed = fence is not None and fence.closes(self.opened)
        self.opened = "" if closed else self.opened
        if not self.held and not is_mark:
            return [(line, True)]
        self.held.append(line)
        self.size += len(line.text)
        if closed:
            return self._released(is_code=True)
        return self.rest() if self.size > MOST_HELD else []

    def rest(self) -> list[tuple[TextLine, bool]]:
        """Return the lines held back in an unclosed fence; the lines that follow are text."""
        self.opened = ""
        return self._released(is_code=False)

    def _released(self, *, is_code: bool) -> list[tuple[TextLine, bool]]:
        released = [(line, is_code) for line in self.held]
        self.held, self.size = [], 0
        return released
