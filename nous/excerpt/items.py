"""What of a session can be shown at all, as items in order, each under the label of whose it is."""

import re
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from nous.text.sentences import Span


class Role(StrEnum):
    """Whose item it is; the value is the label it is shown under."""

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
"""The roles in which a person speaks."""

_OF_CALLS = frozenset({Role.TOOLS, Role.PLAN})


class Item(NamedTuple):
    """Something that can be shown, whole or in parts.

    `at` is the position of its first entry in the transcript, `turn` the turn that stands in.

    `parts` are the calls of a line of tools and `deeds` those of them that changed the world outside of the files; for
    every other item its sentences are its parts, and `parts` is empty. `size` is the length of what it stands for,
    where that is more than *text*, and `of` the tool whose output it is.
    """

    role: Role
    text: str
    entries: tuple[str, ...]
    at: int = 0
    parts: tuple[Span, ...] = ()
    deeds: tuple[Span, ...] = ()
    size: int = 0
    of: str = ""
    turn: int = 0


class Gap(NamedTuple):
    """What is left out between two items that are shown. The output of a tool is none of these: its call stands for it.

    All numbers are 0 where nothing is missing that would have to be told.
    """

    turns: int
    calls: int
    errors: int


class Items(tuple[Item, ...]):  # noqa: SLOT001 - what is counted once is kept in its __dict__
    """The items of a session in order; they never change, so what a gap leaves out is counted once."""

    @cached_property
    def _before(self) -> list[tuple[int, int, int]]:
        """What is before each item, and before the end."""
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

    def gap(self, start: int, end: int) -> Gap:
        """What is left out where the items from *start* up to *end* are."""
        before = self._before
        (turns, calls, errors), (later_turns, later_calls, later_errors) = before[start], before[end]
        return Gap(later_turns - turns, later_calls - calls, later_errors - errors)


_LABELS = "|".join([*Role, "Part", "The session began", "Just before"])
_OURS = re.compile(rf"\[(?=(?:{_LABELS})\b|\.\.\. )")
_ODD_BREAKS = frozenset("\v\f\x1c\x1d\x1e")
_LIKE_OURS = re.compile(rf"([\n\r\v\f\x1c-\x1e\x85\u2028\u2029]){_OURS.pattern}")


def as_said(text: str) -> str:
    """*text*, of which no further line can be taken for one of the excerpt's own, with a label or the mark of a gap."""
    if "[" not in text:
        return text
    is_plain = text.isascii() and _ODD_BREAKS.isdisjoint(text)
    if is_plain and "\n[" not in text and "\r[" not in text:
        return text
    return _LIKE_OURS.sub(r"\g<1>\\[", text)


def no_label(text: str) -> str:
    """*text* that is put on a line of its own, as long as it was: what could be a label there gets a round bracket."""
    at = len(text) - len(text.lstrip())
    return f"{text[:at]}({text[at + 1 :]}" if _OURS.match(text, at) else text


def unlike_ours(line: str) -> str:
    """A *line* that stands at the beginning of another, which `as_said` would not see."""
    return f"\\{line}" if line.startswith("[") and _OURS.match(line) else line
