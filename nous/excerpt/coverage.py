"""Filling the rest of the room: those sentences and calls that add most of what is not yet spoken of.

Lazy greedy choice: a piece's gain is the worth of its new terms per length^`BREVITY`. Gains only fall while the excerpt
grows, so the best piece is found by weighing the top of a heap again.
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from nous.excerpt.items import Items, Role
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import complete, longest_closing, merged, most_added
from nous.excerpt.strategy import Choice
from nous.excerpt.units import WORTH, Piece, pieces_of, worths
from nous.text.language import words
from nous.text.sentences import Span

BREVITY = 0.8
_ROUNDS = 2
_MARK, _LABEL_AND_GAP = 10, 45
"""Characters that a piece costs beside its own: in an item that is shown already, and about in one that is not."""

_LEAST_ROOM = 24
_WORTH_OF_ANY = WORTH // 2
"""What a piece is worth that says nothing new, so that no room is left unused."""

_OPENING = 80
"""Characters of a sentence that tell what sort it is."""

_NARRATED = 0.6
"""What is left of a sentence's worth if the agent only says what it is about to do."""

_LEADING = 0.3
"""What is left of its worth if a sentence only leads to the next one, which may not be shown."""

_AS_BEGINNING, _AS_END, _AS_QUESTION = 2.0, 1.5, 4.0
_SHORT_ANSWER = 30
"""An answer of so few characters, as "Yes, do that", says nothing without its question."""

_ROLE_WORTH = {Role.ERROR: 1.2, Role.TOOLS: 0.4, Role.OUTPUT: 0.3, Role.SUMMARY: 1.5}


def cover(items: Items, choice: Choice, room: int) -> Choice:
    """*choice* and as much more as *room* holds, the most telling first."""
    filling = _Filling(items, choice)
    for _ in range(_ROUNDS):
        if not filling.fill(room):
            break
    spans = {index: complete(taken, items[index].text) for index, taken in filling.spans.items()}
    kept = {index: choice.scores.get(index, 0.0) for index in choice.spans}
    covering = Choice(dict(choice.spans), dict(choice.reasons), filling.scores() | kept)
    for index, taken in spans.items():
        covering.take(index, taken, reason="covers most for its length")
    return covering


_Waiting = tuple[float, int, Span, Piece]
"""What it gained when it was last weighed, negative, so that the most comes first; then what keeps the order fixed."""


class _Filling:
    """A choice that grows."""

    def __init__(self, items: Items, choice: Choice) -> None:
        self.spans = dict(choice.spans)
        self._gains: dict[int, float] = {}
        self._items = items
        self._added: defaultdict[int, list[Span]] = defaultdict(list)
        self._closing: dict[int, int] = {}
        self._words = words()
        pieces = pieces_of(items)
        self._worth = worths(piece.news for of_item in pieces for piece in of_item)
        self._covered: set[str] = set()
        waiting = [piece for of_item in pieces for piece in self._not_shown(of_item)]
        for piece in waiting:
            piece.factor = _ROLE_WORTH.get(items[piece.index].role, 1.0)
        _emphasise(items, pieces)
        self._waiting = [(-self._gain(piece), piece.index, piece.span, piece) for piece in waiting]
        heapq.heapify(self._waiting)

    def _not_shown(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        """Those of an item's *pieces* of which nothing is shown; what the others speak of is covered."""
        if not pieces or not (spans := self.spans.get(pieces[0].index)):
            return pieces
        hidden: list[Piece] = []
        for piece in pieces:
            if _overlaps(piece, spans):
                self._covered |= piece.news
            else:
                hidden.append(piece)
        return hidden

    def fill(self, room: int) -> bool:
        """Add pieces as long as they surely fit into *room*; whether any was added."""
        ledger = Ledger.exactly(self._items, self.spans)
        aside = self._longer_than(room - ledger.spent)
        added = False
        while (spare := room - ledger.spent) >= _LEAST_ROOM and (waiting := self._best()) is not None:
            piece = waiting[-1]
            length = self._length(piece)
            if ledger.cost(piece.index, length) <= spare:
                ledger.take(piece.index, length)
                self._add(piece, gain=-waiting[0])
                added = True
                continue
            aside.append(waiting)
            if piece.length > spare:
                aside += self._longer_than(spare)
        for index, spans in self._added.items():
            self.spans[index] = merged((*self.spans.get(index, ()), *spans))
        self._added.clear()
        self._waiting += aside
        heapq.heapify(self._waiting)
        return added

    def scores(self) -> dict[int, float]:
        """What the first piece taken of an item added, or its best one would have, when that was last weighed."""
        left: dict[int, float] = {}
        for promised, index, *_ in self._waiting:
            left[index] = min(promised, left.get(index, 0.0))
        return {index: -promised / WORTH for index, promised in left.items()} | self._gains

    def _longer_than(self, spare: int) -> list[_Waiting]:
        """Take what is longer than *spare* characters out of the heap: in one round, room only gets less."""
        long = [waiting for waiting in self._waiting if waiting[-1].length > spare]
        if long:
            self._waiting = [waiting for waiting in self._waiting if waiting[-1].length <= spare]
            heapq.heapify(self._waiting)
        return long

    def _best(self) -> _Waiting | None:
        """Take the piece that gains most from the heap, with what it gains now; None when none is left."""
        heap = self._waiting
        while heap:
            promised, index, span, piece = heap[0]
            self._read(piece)
            gain = -self._gain(piece)
            if not gain:
                heapq.heappop(heap)
                continue
            if gain <= promised:
                return heapq.heappop(heap)
            heapq.heapreplace(heap, (gain, index, span, piece))
        return None

    def _read(self, piece: Piece) -> None:
        """Look what *piece* says, which is worth the time only for those that come to the top."""
        if piece.is_read:
            return
        piece.is_read = True
        start, end = piece.span
        item = self._items[piece.index]
        if not item.parts and item.text[end - 1] == ":":
            piece.factor *= _LEADING
        if item.role is Role.ASSISTANT and self._words.opens("narrates", item.text[start : min(end, start + _OPENING)]):
            piece.factor *= _NARRATED

    def _gain(self, piece: Piece) -> float:
        piece.news -= self._covered
        if not piece.news and self._items[piece.index].role is Role.OUTPUT:
            return 0.0
        news = _WORTH_OF_ANY + sum(map(self._worth.__getitem__, piece.news))
        beside = _MARK if self._is_shown(piece.index) else _LABEL_AND_GAP
        return news * piece.factor / (piece.length + beside) ** BREVITY

    def _length(self, piece: Piece) -> int:
        text = self._items[piece.index].text
        if piece.index not in self._closing:
            self._closing[piece.index] = longest_closing(text)
        closing = self._closing[piece.index]
        return most_added(text, piece.span, closing=closing, to_nothing=not self._is_shown(piece.index))

    def _is_shown(self, index: int) -> bool:
        return index in self.spans or index in self._added

    def _add(self, piece: Piece, *, gain: float) -> None:
        self._gains.setdefault(piece.index, gain / WORTH)
        self._added[piece.index].append(piece.span)
        self._covered |= piece.news


def _emphasise(items: Items, pieces: Sequence[Sequence[Piece]]) -> None:
    """The agent's last words before the user's begin with a verdict and end with what they ask, both in few words."""
    last: int | None = None
    for index, item in enumerate(items):
        if item.role is Role.ASSISTANT:
            last = index
        elif item.role is Role.USER and last is not None:
            if said := pieces[last]:
                said[-1].factor *= _AS_QUESTION if len(item.text) <= _SHORT_ANSWER else _AS_END
                said[0].factor *= _AS_BEGINNING
            last = None


def _overlaps(piece: Piece, spans: Sequence[tuple[int, int]]) -> bool:
    start, end = piece.span
    return any(start < shown_to and end > shown_from for shown_from, shown_to in spans)
