"""Choose the sentences and tool calls that add most new terms, to fill an excerpt's budget.

Lazy greedy maximum coverage: the gain of a unit is the worth of its new terms divided by length^`BREVITY`. Gains mostly
fall while the excerpt grows, so only the top of a heap is re-evaluated; one rises where another unit of its item is
taken and pays for the label. Terms are words as written, split at blanks: several times faster than a search for words.
"""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import LengthAccount, back_to_a_blank, longest_closing, merged, most_added
from nous.excerpt.strategy import Choice
from nous.text.language import words
from nous.text.sentences import Span, sentences

WORTH = 1000  # worth of a term that occurs once
IDENTIFIER_WORTH = 2.5
OFTEN = 0.6  # worth added for every e-fold increase in the sentences that have the term
_IDENTIFIER = re.compile(r"\d|[_./:@#$+]|[a-z][A-Z]|-.*-")
_HAN = re.compile(r"[\u3400-\u9fff]")
_ENDS = (". ", ": ", ".\n", ":\n")
_AROUND_WORDS = ',;!?()[]{}<>|="`*~\u201c\u201d\u2018\u2026\u2192\u3000\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f'
_ALONE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:/_-+@#$&%'\\\u2013\u2014\u2022"
_BLANKS = str.maketrans(dict.fromkeys(_AROUND_WORDS, " "))


class Concepts:
    """Term extractor: an identifier, number or Chinese character is one, a stop word none."""

    def __init__(self) -> None:
        stopwords = words().sets["stopwords"]
        self._no_terms = stopwords | {word.capitalize() for word in stopwords} | set(_ALONE) | {"--"}

    @staticmethod
    def bare(text: str) -> str:
        """Replace the marks around words with blanks; every character keeps its position."""
        bare = text.translate(_BLANKS)
        for end in _ENDS:
            bare = bare.replace(end, "  ")
        return bare

    def of(self, bare: str) -> set[str]:
        """Return the terms of a *bare* sentence, ignoring the capital of its first word."""
        if bare[1:2].islower():
            bare = bare[0].lower() + bare[1:]
        terms = set(bare.rstrip(".:").split()) - self._no_terms
        if bare.isascii():
            return terms
        unspaced = {term for term in terms if _HAN.search(term)}
        return (terms - unspaced).union(*map(_HAN.findall, unspaced))


def worths(spoken: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return worths of terms: integers, so that a sum does not depend on set order."""
    counted = Counter(chain.from_iterable(spoken))
    most = max(counted.values(), default=0)
    worth = [0, *(round(WORTH * (1 + OFTEN * log(times))) for times in range(1, most + 1))]
    of_identifier = [round(IDENTIFIER_WORTH * one) for one in worth]
    return {term: _worth(term, worth[times], of_identifier[times]) for term, times in counted.items()}


def _worth(term: str, of_word: int, of_identifier: int) -> int:
    """Return the worth of one *term*; 0 for the rule of a table."""
    if term.isalpha() and (term.islower() or term.istitle()):
        return of_word
    if not term[0].isalnum() and not any(map(str.isalnum, term)):
        return 0
    return of_identifier if _IDENTIFIER.search(term) else of_word


LONGEST_PIECE = 400
CONSIDERED = 300_000


@dataclass(slots=True, eq=False)
class TextUnit:
    """A sentence or call: *span* of the item at *index*.

    `news` are the terms that nothing selected contains yet. *factor* scales their worth by the role of its item.
    """

    index: int
    span: Span
    length: int
    news: set[str]
    factor: float


def units_of(items: Sequence[Item]) -> list[list[TextUnit]]:
    """Return the units of every item, in order.

    Beyond `CONSIDERED` characters, every item is considered up to the same length: a message states its subject at its
    beginning, and the work stays bounded.
    """
    concepts = Concepts()
    most = _equal_share([len(item.text) for item in items], CONSIDERED)
    units: list[list[TextUnit]] = []
    for index, item in enumerate(items):
        bare, factor = concepts.bare(item.text[:most]), _ROLE_WORTH.get(item.role, 1.0)
        spans = _parts(item, len(bare))
        units.append([TextUnit(index, (a, b), b - a, concepts.of(bare[a:b]), factor) for a, b in spans])
    return units


def _parts(item: Item, most: int) -> Iterator[Span]:
    """Yield the sentences or calls of *item* that begin in its first *most* characters."""
    for start, end in item.parts or sentences(item.text[:most]):
        begun = start
        while begun < min(end, most):
            stop = end if end - begun <= LONGEST_PIECE else back_to_a_blank(item.text, begun + LONGEST_PIECE)
            yield begun, stop
            begun = stop


def _equal_share(lengths: Sequence[int], room: int) -> int:
    """Return the maximum length of each that keeps the total within *room*."""
    if sum(lengths) <= room:
        return max(lengths, default=0)
    left = room
    for number, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - number)
        if length > share:
            return share
        left -= length
    return room


BREVITY = 0.8
_ROUNDS = 2
# Overhead of a unit in characters: in an item that is already shown, and (approximately) in one that is not.
_MARK, _LABEL_AND_GAP = 10, 45
_LEAST_ROOM = 24
_WORTH_OF_ANY = WORTH // 2  # worth of a unit without new terms, so that no room is left unused
_ROLE_WORTH = {Role.ERROR: 1.2, Role.TOOLS: 0.4, Role.OUTPUT: 0.3, Role.SUMMARY: 1.5}


def cover(items: Items, choice: Choice, room: int) -> Choice:
    """Extend *choice* with the most informative units that fit into *room* characters."""
    filling = _Filling(items, choice)
    for _ in range(_ROUNDS):
        if not filling.fill(room):
            break
    covering = Choice(dict(choice.spans), dict(choice.reasons))
    for index, taken in filling.spans.items():
        covering.take(index, taken, reason="covers most for its length")
    return covering


_Waiting = tuple[float, int, Span, TextUnit]
"""Heap entry: negated gain when last evaluated, then item and span for a stable order, then the unit."""


class _Filling:
    def __init__(self, items: Items, choice: Choice) -> None:
        self.spans = dict(choice.spans)
        self._items = items
        self._added: defaultdict[int, list[Span]] = defaultdict(list)
        units = units_of(items)
        self._worth = worths(unit.news for of_item in units for unit in of_item)
        self._covered: set[str] = set()
        waiting = [unit for of_item in units for unit in self._not_shown(of_item)]
        self._waiting = [(-self._gain(unit), unit.index, unit.span, unit) for unit in waiting]
        heapq.heapify(self._waiting)

    def _not_shown(self, units: Sequence[TextUnit]) -> Sequence[TextUnit]:
        """Return the units of one item that are hidden; terms of its shown units become covered."""
        if not units or not (spans := self.spans.get(units[0].index)):
            return units
        hidden: list[TextUnit] = []
        for unit in units:
            start, end = unit.span
            if any(start < shown_to and end > shown_from for shown_from, shown_to in spans):
                self._covered |= unit.news
            else:
                hidden.append(unit)
        return hidden

    def fill(self, room: int) -> bool:
        """Add units while they certainly fit into *room*; return whether any was added."""
        account = LengthAccount.exactly(self._items, self.spans)
        deferred = self._longer_than(room - account.spent)
        added = False
        while (spare := room - account.spent) >= _LEAST_ROOM and (waiting := self._best()) is not None:
            unit = waiting[-1]
            length = self._length(unit)
            if account.cost(unit.index, length) <= spare:
                account.take(unit.index, length)
                self._added[unit.index].append(unit.span)
                self._covered |= unit.news
                added = True
                continue
            deferred.append(waiting)
            if unit.length > spare:
                deferred += self._longer_than(spare)
        for index, spans in self._added.items():
            self.spans[index] = merged((*self.spans.get(index, ()), *spans))
        self._added.clear()
        self._waiting += deferred
        heapq.heapify(self._waiting)
        return added

    def _longer_than(self, spare: int) -> list[_Waiting]:
        """Remove units longer than *spare* from the heap: room only shrinks within a round."""
        long = [waiting for waiting in self._waiting if waiting[-1].length > spare]
        if long:
            self._waiting = [waiting for waiting in self._waiting if waiting[-1].length <= spare]
            heapq.heapify(self._waiting)
        return long

    def _best(self) -> _Waiting | None:
        heap = self._waiting
        while heap:
            promised, index, span, unit = heap[0]
            gain = -self._gain(unit)
            if not gain:
                heapq.heappop(heap)
                continue
            if gain <= promised:
                return heapq.heappop(heap)
            heapq.heapreplace(heap, (gain, index, span, unit))
        return None

    def _gain(self, unit: TextUnit) -> float:
        unit.news -= self._covered
        if not unit.news and self._items[unit.index].role is Role.OUTPUT:
            return 0.0
        news = _WORTH_OF_ANY + sum(map(self._worth.__getitem__, unit.news))
        beside = _MARK if unit.index in self.spans or unit.index in self._added else _LABEL_AND_GAP
        return news * unit.factor / (unit.length + beside) ** BREVITY

    def _length(self, unit: TextUnit) -> int:
        text = self._items[unit.index].text
        is_shown = unit.index in self.spans or unit.index in self._added
        return most_added(text, unit.span, closing=longest_closing(text), to_nothing=not is_shown)
