"""Define an excerpt's items (role, text, position); count omissions; escape label-like text."""

import re
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from nous.text.pasted import is_document
from nous.text.sentences import Span


class Role(StrEnum):
    """Speaker or kind of an item; the value is the label that it is shown under."""

    USER = "User"
    ASSISTANT = "Assistant"
    DECISION = "Decision"
    ERROR = "Error"
    TOOLS = "Tools"
    PLAN = "Plan"
    OUTPUT = "Output"
    SUB_AGENT = "Sub-agent"
    TEAMMATE = "Teammate"
    TASK = "Task"
    SUMMARY = "Summary"


PERSONAL = frozenset({Role.USER, Role.DECISION})
_OF_CALLS = frozenset({Role.TOOLS, Role.PLAN})


class Item(NamedTuple):
    """Something that can be shown, whole or in parts.

    `at` and `turn` are the position and turn of its first entry. For a line of tools, `parts` are its calls, and
    `side_effects` those calls that changed something outside of the files. For every other item the sentences are its
    parts, and `parts` is empty. `size` is the length of the original if that is more than *text*, and `of` is the tool
    whose output it is.
    """

    role: Role
    text: str
    entries: tuple[str, ...]
    at: int = 0
    parts: tuple[Span, ...] = ()
    side_effects: tuple[Span, ...] = ()
    size: int = 0
    of: str = ""
    turn: int = 0


Gap = tuple[int, int, int]
"""Turns, calls and errors omitted between two items; outputs are represented by their calls."""


class Items(tuple[Item, ...]):  # noqa: SLOT001 - cached_property needs a __dict__
    """Items of a session in order; immutable, so the counts for gaps are computed once."""

    @cached_property
    def _before(self) -> list[tuple[int, int, int]]:
        turns = calls = errors = 0
        sums = [(0, 0, 0)]
        for role, _, entries, *_ in self:
            if role in _OF_CALLS:
                calls += len(entries)
            elif role is Role.ERROR:
                errors += 1
            elif role is not Role.OUTPUT:
                turns += 1
            sums.append((turns, calls, errors))
        return sums

    @cached_property
    def pasted(self) -> frozenset[int]:
        """The messages of users that are pasted texts."""
        return frozenset(at for at, item in enumerate(self) if item.role is Role.USER and is_document(item.text))

    def gap(self, start: int, end: int) -> Gap:
        before = self._before
        (turns, calls, errors), (later_turns, later_calls, later_errors) = before[start], before[end]
        return later_turns - turns, later_calls - calls, later_errors - errors


_LABELS = "|".join(Role)
_OURS = re.compile(rf"\[(?=(?:{_LABELS})\b|\.\.\. )")
_LIKE_OURS = re.compile(rf"([\n\r\v\f\x1c-\x1e\x85\u2028\u2029]){_OURS.pattern}")


def as_said(text: str) -> str:
    """Escape further lines of *text* that look like a label or gap mark of the excerpt."""
    return _LIKE_OURS.sub(r"\g<1>\\[", text) if "[" in text else text


def no_label(text: str) -> str:
    """Round a bracket that could open a label at the start of *text*; keep the length."""
    at = len(text) - len(text.lstrip())
    return f"{text[:at]}({text[at + 1 :]}" if _OURS.match(text, at) else text


def unlike_ours(line: str) -> str:
    """Escape a *line* at the start of a text if it looks like a label."""
    return f"\\{line}" if line.startswith("[") and _OURS.match(line) else line
