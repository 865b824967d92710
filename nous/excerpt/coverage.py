"""Filling the rest of the room: those sentences and calls that add most of what is not yet spoken of.

Lazy greedy choice: a piece's gain is the worth of its new terms per length^`BREVITY`. Gains only fall while the excerpt
grows, so the best piece is found by re-weighing the top of a heap.
"""

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nous.excerpt.calls import is_commit
from nous.excerpt.choice import Choice
from nous.excerpt.concepts import concepts, worths
from nous.excerpt.items import Item, Role
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import complete, longest_closing, merged, most_added
from nous.excerpt.talk import is_talk, states
from nous.prose import Span, sentences

BREVITY = 0.8
LONGEST_PIECE = 400
_ROUNDS = 5
_FIXED = 20
"""Characters that a piece costs beside its own: a share of label and marks."""

_CALL = re.compile(r"(?:(?! \| ).)+(?: \| )?")
_WORTH_OF_ANY = 0.5
"""What a piece is worth that says nothing new, so that no room is left unused."""

_COMMIT_WORTH = 16.0
_ROLE_WORTH = {Role.ERROR: 1.2, Role.TOOLS: 0.8}


@dataclass(frozen=True, slots=True, order=True)
class _Piece:
    """A sentence or call of the item at *index*; *factor* is what its kind makes of the worth of its terms."""

    index: int
    span: Span
    terms: frozenset[str] = field(compare=False)
    factor: float = field(compare=False)


def cover(items: Sequence[Item], choice: Choice, room: int) -> Choice:
    """*choice* and as much more as *room* holds, the most telling first."""
    filling = _Filling(items, choice)
    for _ in range(_ROUNDS):
        if not filling.fill(room):
            break
    spans = {index: complete(taken, items[index].text) for index, taken in filling.spans.items()}
    added = {index: "covers most for its length" for index in filling.spans if index not in choice.spans}
    return Choice(spans, {**added, **choice.reasons})


class _Filling:
    """A choice that grows."""

    def __init__(self, items: Sequence[Item], choice: Choice) -> None:
        self.spans = dict(choice.spans)
        self._items = items
        self._closing = [longest_closing(item.text) for item in items]
        self._worth = worths(item.text for item in items)
        self._covered: set[str] = set()
        for index, spans in self.spans.items():
            self._covered.update(*(concepts(items[index].text[start:end]) for start, end in spans))
        self._waiting = [(-self._gain(piece), piece) for piece in _pieces(items, self.spans)]
        heapq.heapify(self._waiting)

    def fill(self, room: int) -> bool:
        """Add pieces as long as they surely fit into *room*; whether any was added."""
        ledger = Ledger.exact(self._items, self.spans)
        misfits: list[tuple[float, _Piece]] = []
        added = False
        while (piece := self._best()) is not None:
            length = self._length(piece)
            if ledger.spent + ledger.cost(piece.index, length) > room:
                misfits.append((-self._gain(piece), piece))
                continue
            ledger.take(piece.index, length)
            self._add(piece)
            added = True
        self._waiting = misfits
        heapq.heapify(self._waiting)
        return added

    def _best(self) -> _Piece | None:
        """Take the piece that gains most from the heap; None when none is left."""
        while self._waiting:
            promised, piece = heapq.heappop(self._waiting)
            gain = -self._gain(piece)
            if gain <= promised:
                return piece
            heapq.heappush(self._waiting, (gain, piece))
        return None

    def _gain(self, piece: _Piece) -> float:
        news = _WORTH_OF_ANY + sum(self._worth.get(term, 0.0) for term in piece.terms - self._covered)
        return news * piece.factor / (piece.span[1] - piece.span[0] + _FIXED) ** BREVITY

    def _length(self, piece: _Piece) -> int:
        text, closing = self._items[piece.index].text, self._closing[piece.index]
        return most_added(text, piece.span, closing=closing, to_nothing=piece.index not in self.spans)

    def _add(self, piece: _Piece) -> None:
        self.spans[piece.index] = merged((*self.spans.get(piece.index, ()), piece.span))
        self._covered |= piece.terms


def _pieces(items: Sequence[Item], taken: Mapping[int, tuple[Span, ...]]) -> Iterator[_Piece]:
    """What can still be added: the sentences and calls of every item that do not overlap what is taken of it."""
    is_conversation = is_talk(items)
    for index, item in enumerate(items):
        spans = taken.get(index, ())
        for start, end in _parts(item):
            if all(end <= shown_from or start >= shown_to for shown_from, shown_to in spans):
                text = item.text[start:end]
                factor = states(text) if is_conversation else _role_worth(item, text)
                yield _Piece(index, (start, end), concepts(text), factor)


def _parts(item: Item) -> Iterator[Span]:
    whole = (call.span() for call in _CALL.finditer(item.text)) if item.role is Role.TOOLS else sentences(item.text)
    for start, end in whole:
        for begun in range(start, end, LONGEST_PIECE):
            yield begun, min(end, begun + LONGEST_PIECE)


def _role_worth(item: Item, piece: str) -> float:
    """What a commit's subject says, the agent thought worth saying for ever."""
    return _COMMIT_WORTH if is_commit(piece) and item.role is Role.TOOLS else _ROLE_WORTH.get(item.role, 1.0)
