"""The account of an excerpt while it grows, without laying it out."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise
from typing import Self

from nous.brief import BETWEEN
from nous.excerpt.items import Items
from nous.excerpt.layout import Taken, gap_length, label_length
from nous.excerpt.spans import shown_length


class Ledger:
    """What an excerpt takes: `spent` is its length in characters as `nous.excerpt.layout` lays it out.

    It is as exact as the sizes that it is told; a size that is too high is made up for by `exactly`. *sizes* are the
    items that are taken from the start, in order, each with how many characters of it.
    """

    def __init__(self, items: Items, sizes: Iterable[tuple[int, int]] = ()) -> None:
        self._items = items
        self._taken: list[int] = []
        self.spent = -len(BETWEEN)
        for index, characters in sizes:
            self._taken.append(index)
            self.spent += label_length(items[index]) + characters + len(BETWEEN)
        places = pairwise([-1, *self._taken, len(items)])
        self.spent += sum(self._gap(before + 1, after) for before, after in places if after - before > 1)

    @classmethod
    def exactly(cls, items: Items, taken: Taken) -> Self:
        """The account of what *taken* takes of *items*."""
        return cls(items, ((index, shown_length(items[index].text, taken[index])) for index in sorted(taken)))

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
        length = gap_length(self._items.gap(start, end)) if end > start else 0
        return length + len(BETWEEN) if length else 0
