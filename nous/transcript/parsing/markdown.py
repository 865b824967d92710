"""Fenced code in Markdown: what stands in it says nothing about the text around it."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_HELD = 4_000_000
"""Characters that are held back until a fence is closed. One that is open for longer was never meant to be."""

_FENCE = re.compile(r" {0,3}(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)


class TextLine(NamedTuple):
    """A line without its ending, its number (from 1), and its offset in bytes."""

    number: int
    offset: int
    text: str


class Fence(NamedTuple):
    """A line that opens fenced code, or closes it if it has no `info`."""

    run: str
    info: str

    def closes(self, opened: str) -> bool:
        """Whether this ends the code that the run *opened* began."""
        return not self.info and self.is_like(opened)

    def is_like(self, opened: str) -> bool:
        return self.run[:1] == opened[:1] and len(self.run) >= len(opened)


class Told(NamedTuple):
    """A line, and whether it stands in fenced code."""

    line: TextLine
    is_code: bool


def fence_in(text: str) -> Fence | None:
    """The fence that the line *text* is."""
    found = _FENCE.match(text) if "```" in text or "~~~" in text else None
    if found is None or (found["run"].startswith("`") and "`" in found["info"]):
        return None
    return Fence(found["run"], found["info"].strip())


@dataclass(slots=True)
class Fences:
    """Tells which lines stand in fenced code.

    People forget to close a fence. So from the first line in it on that would mean something outside, a *mark*, lines
    are held back: they are code if the fence is closed, and text if another one opens before, or the end comes.
    """

    opened: str = ""
    held: list[TextLine] = field(default_factory=list[TextLine])
    size: int = 0

    def told(self, line: TextLine, *, is_mark: bool) -> list[Told]:
        """The lines up to *line* of which it is known by now. Outside of code, it does not matter if it *is_mark*."""
        fence = fence_in(line.text)
        if not self.opened:
            self.opened = fence.run if fence else ""
            return [Told(line, is_code=False)]
        if self.held and fence and fence.info and fence.is_like(self.opened):
            return [*self.rest(), *self.told(line, is_mark=is_mark)]
        closed = fence is not None and fence.closes(self.opened)
        self.opened = "" if closed else self.opened
        if not self.held and not is_mark:
            return [Told(line, is_code=True)]
        self.held.append(line)
        self.size += len(line.text)
        if closed:
            return self._released(is_code=True)
        return self.rest() if self.size > MOST_HELD else []

    def rest(self) -> list[Told]:
        """What is held back, whose fence was never closed. What follows is text."""
        self.opened = ""
        return self._released(is_code=False)

    def _released(self, *, is_code: bool) -> list[Told]:
        released = [Told(line, is_code) for line in self.held]
        self.held, self.size = [], 0
        return released
