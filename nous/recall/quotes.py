"""Which words of a session show that a fact was said there."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from nous.brief import Passage
from nous.recall.terms import asked_terms, terms

MOST = 6
"""Lines that are quoted."""

_LONGEST = 300
_BEFORE = 60
"""Characters that are left before the first of the fact's words, where the beginning of a line has to go."""

_LABEL = re.compile(r"\[[A-Z][\w ]*\] ")
_CALLS = re.compile(r" \| (?=\S)")


class _Line(NamedTuple):
    label: str
    text: str
    share: float


def quoted(text: str, passages: Iterable[Passage]) -> tuple[str, ...]:
    """At most MOST lines of *passages*: those that have most of the words of *text* first, then the others in order."""
    wanted = frozenset(asked_terms(text))
    lines = [line for passage in passages for line in _lines(passage, wanted)]
    best = sorted(lines, key=lambda line: -line.share)[:MOST]
    return tuple(dict.fromkeys(line.label + _cut(line.text, wanted) for line in best))


def _lines(passage: Passage, wanted: Collection[str]) -> Iterator[_Line]:
    """The lines of a passage, each call of a tool as one of its own, and each with the label of whoever says it."""
    found = _LABEL.match(passage.text)
    label = found[0] if found else ""
    for line in passage.text[len(label) :].splitlines():
        for part in _CALLS.split(line) if label == "[Tools] " else (line,):
            if part.strip():
                shared = set(terms(part)).intersection(wanted)
                yield _Line(label, part.strip(), len(shared) / (len(wanted) or 1))


def _cut(line: str, wanted: Collection[str]) -> str:
    """*line*, or of a long one the piece in which the first of the longest *wanted* words stands."""
    if len(line) <= _LONGEST:
        return line
    folded = line.casefold()
    places = (folded.find(term.removesuffix("=")) for term in sorted(wanted, key=lambda term: (-len(term), term)))
    start = max(next((place for place in places if place >= 0), 0) - _BEFORE, 0)
    cut = line[start : start + _LONGEST]
    return f"{'…' if start else ''}{cut}{'…' if start + _LONGEST < len(line) else ''}"
