"""Which words of a session show that a fact was said there."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from nous.brief import Passage
from nous.recall.terms import asked_terms, terms

GOOD_SHARE = 0.25
"""Of the words of a fact, so many that no line before it has make a line worth quoting."""

_LONGEST = 300
_BEFORE = 60
"""Characters that are left before the first of the fact's words, where the beginning of a line has to go."""

_LABEL = re.compile(r"\[[A-Z][\w ]*\] ")
_CALLS = re.compile(r" \| (?=\S)")


class _Line(NamedTuple):
    label: str
    text: str
    terms: frozenset[str]


def quoted(text: str, passages: Iterable[Passage]) -> tuple[str, ...]:
    """The line of *passages* that has most of the words of *text*, then those that have many of the rest."""
    wanted = frozenset(asked_terms(text))
    lines = [line for passage in passages for line in _lines(passage, wanted)]
    return tuple(line.label + _cut(line.text, wanted) for line in _showing(lines, wanted))


def _showing(lines: Sequence[_Line], wanted: frozenset[str]) -> Iterator[_Line]:
    """The first line in any case, as who asks should see the place."""
    missing = wanted
    least = 0.0
    while lines:
        best = max(lines, key=lambda line: len(line.terms & missing))
        if len(best.terms & missing) < least:
            return
        yield best
        missing -= best.terms
        least = max(GOOD_SHARE * len(wanted), 1)


def _lines(passage: Passage, wanted: Collection[str]) -> Iterator[_Line]:
    """The lines of a passage, each call of a tool as one of its own, and each with the label of whoever says it."""
    found = _LABEL.match(passage.text)
    label = found[0] if found else ""
    for line in passage.text[len(label) :].splitlines():
        for part in _CALLS.split(line) if label == "[Tools] " else (line,):
            if part.strip():
                yield _Line(label, part.strip(), frozenset(terms(part)).intersection(wanted))


def _cut(line: str, wanted: Collection[str]) -> str:
    """*line*, or of a long one the piece in which the first of the longest *wanted* words stands."""
    if len(line) <= _LONGEST:
        return line
    folded = line.casefold()
    places = (folded.find(term.removesuffix("=")) for term in sorted(wanted, key=lambda term: (-len(term), term)))
    start = max(next((place for place in places if place >= 0), 0) - _BEFORE, 0)
    cut = line[start : start + _LONGEST]
    return f"{'…' if start else ''}{cut}{'…' if start + _LONGEST < len(line) else ''}"
