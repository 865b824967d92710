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
_WORD = re.compile(r"[^\s\"`*,;()<>{}|\[\]]+")


class _Line(NamedTuple):
    label: str
    text: str
    terms: frozenset[str]


def quoted(text: str, passages: Iterable[Passage]) -> tuple[str, ...]:
    """The line of *passages* that has most of the words of *text*, then those that have many of the rest."""
    wanted = frozenset(asked_terms(text))
    lines = [line for passage in passages for line in _lines(passage, wanted)]
    return tuple(line.label + _cut(line) for line in _showing(lines, wanted))


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


def _cut(line: _Line) -> str:
    """The text of *line*, or of a long one the piece in which the first of the longest words of the fact stands."""
    text = line.text
    if len(text) <= _LONGEST:
        return text
    start = max(_place(line) - _BEFORE, 0)
    return f"{'…' if start else ''}{text[start : start + _LONGEST]}{'…' if start + _LONGEST < len(text) else ''}"


def _place(line: _Line) -> int:
    """Where the first of the longest of its *terms* stands in *line*: as a term, not within another word."""
    places: dict[str, int] = {}
    for word in _WORD.finditer(line.text):
        folded = word[0].casefold()
        for term in line.terms.intersection(terms(word[0])):
            places.setdefault(term, word.start() + max(folded.find(term.removesuffix("=")), 0))
    return max(places.items(), key=lambda each: (len(each[0]), -each[1]), default=("", 0))[1]
