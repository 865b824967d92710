"""What a sentence stands under: the headings over it, and what leads in the list that it is part of."""

import re
from typing import NamedTuple

_ITEM = re.compile(r"(?:[-*+•]|\d+[.)])\s|[ \t]")
"""How a line of a list begins, or one that goes on with it."""

_HEADING = re.compile(r"#{1,6}(?=\s)")
_LABEL = re.compile(r"\*\*[^*]+\*\*(?: \([^()]*\))?:?\s*\Z")
_LEAD_IN, _IN_BOLD = 7, 8
"""Ranks below those of headings, which are their levels."""


class _Lead(NamedTuple):
    rank: int
    text: str


class Leads:
    """The headings and lead-ins of one text, as its sentences are gone through in order."""

    def __init__(self) -> None:
        self._over: list[_Lead] = []

    def over(self, raw: str, line: str) -> tuple[str, ...]:
        """What the sentence *raw* of *line* stands under. A paragraph ends the lists before it."""
        if _ITEM.match(line):
            return tuple(lead.text for lead in self._over)
        heading = _HEADING.match(line)
        rank = len(heading[0]) if heading else _IN_BOLD if _LABEL.match(line) else _LEAD_IN
        self._over = [lead for lead in self._over if lead.rank < rank]
        under = tuple(lead.text for lead in self._over)
        if rank != _LEAD_IN or raw.rstrip("* ").endswith(":"):
            self._over.append(_Lead(rank, raw))
        return under
