"""The account of an excerpt while it grows, without laying it out."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from nous.excerpt.items import Item
from nous.excerpt.layout import BETWEEN, Taken, gap_length, label_length, missing
from nous.excerpt.spans import shown_length


class _Counts(NamedTuple):
    """How much a gap over all the items before each one leaves out; the last is over all of them."""

    turns: list[int]
    calls: list[int]
    errors: list[int]


def _counted(items: Sequence[Item]) -> _Counts:
    turns, calls, errors = zip(*map(missing, items), strict=True) if items else ((), (), ())
    return _Counts(*(list(accumulate(each, initial=0)) for each in (turns, calls, errors)))


class Ledger:
    """What an excerpt takes: `spent` is its length in characters as `nous.excerpt.layout` lays it out.

    It is as exact as the sizes that it is told; a size that is too high is made up for by `exactly`. *sizes* are the
    items that are taken from the start, in order, each with how many characters of it.
    """

    def __init__(
        self, items: Sequence[Item], sizes: Iterable[tuple[int, int]] = (), *, counts: _Counts | None = None
    ) -> None:
        self._items = items
        self._counts = counts or _counted(items)
        self._taken: list[int] = []
        self.spent = -len(BETWEEN)
        for index, characters in sizes:
            self._taken.append(index)
            self.spent += label_length(items[index]) + characters + len(BETWEEN)
        places = pairwise([-1, *self._taken, len(items)])
        self.spent += sum(self._gap(before + 1, after) for before, after in places if after - before > 1)

    def of(self, sizes: Iterable[tuple[int, int]]) -> "Ledger":
        """Another account of the same items, which are not counted again."""
        return Ledger(self._items, sizes, counts=self._counts)

    def exactly(self, taken: Taken) -> "Ledger":
        """Another account of the same items: of what *taken* takes."""
        return self.of((index, shown_length(self._items[index].text, taken[index])) for index in sorted(taken))

    def cost(self, index: int, characters: int) -> int:
        """What showing *characters* more of the item at *index* adds, with its label and the gaps that it makes."""
        taken = self._taken
        at = bisect_left(taken, index)
        if at < len(taken) and taken[at] == index:
            return characters
        before = taken[at - 1] + 1 if at else 0
        after = taken[at] if at < len(taken) else len(self._items)
        gaps = self._gap(before, index) + self._gap(index + 1, after) - self._gap(before, after)
        return label_length(self._items[index]) + characters + len(BETWEEN) + gaps

    def take(self, index: int, characters: int) -> None:
        self.spent += self.cost(index, characters)
        at = bisect_left(self._taken, index)
        if at == len(self._taken) or self._taken[at] != index:
            self._taken.insert(at, index)

    def _gap(self, start: int, end: int) -> int:
        """What the mark for the items from *start* up to *end* takes, with what parts it from the next."""
        counts = self._counts
        turns = counts.turns[end] - counts.turns[start]
        calls = counts.calls[end] - counts.calls[start]
        errors = counts.errors[end] - counts.errors[start]
        return gap_length(turns, calls, errors) + len(BETWEEN) if turns or calls or errors else 0
