"""How an excerpt is laid out: labelled items in order, and a line for each gap that names what is missing.

`laid_out` is what is measured against the budget; `Ledger` foresees its length, one step at a time.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby

from nous.excerpt.items import Item, Role
from nous.excerpt.spans import shown
from nous.prose import Span

BETWEEN = "\n\n"
Taken = Mapping[int, tuple[Span, ...]]
"""Which spans of which item are shown, by the item's position."""


def whole(items: Sequence[Item]) -> dict[int, tuple[Span, ...]]:
    """Every item in full."""
    return {index: ((0, len(item.text)),) for index, item in enumerate(items)}


def laid_out(items: Sequence[Item], taken: Taken, *, heading: str = "") -> str:
    """The excerpt: *heading*, then the taken items in order with a mark for every gap."""
    return BETWEEN.join([heading, *_paragraphs(items, taken)] if heading else _paragraphs(items, taken))


def block(item: Item, spans: Sequence[Span]) -> str:
    """One item as it is shown."""
    return label(item) + shown(item.text, spans)


def label(item: Item) -> str:
    return f"[{item.role}] "


def gap_mark(items: Sequence[Item]) -> str:
    """What stands in the place of *items*."""
    turns = sum(item.role is not Role.TOOLS for item in items)
    calls = sum(item.calls for item in items)
    return _mark(turns, calls)


def _mark(turns: int, calls: int) -> str:
    missing = [_counted(turns, "turn")] * (turns > 0) + [_counted(calls, "tool call")] * (calls > 0)
    return f"[... {', '.join(missing)} omitted ...]"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _paragraphs(items: Sequence[Item], taken: Taken) -> Iterator[str]:
    for is_taken, run in groupby(range(len(items)), key=lambda index: bool(taken.get(index))):
        if is_taken:
            yield from (block(items[index], taken[index]) for index in run)
        else:
            yield gap_mark([items[index] for index in run])


class Ledger:
    """Keeps account of an excerpt while it grows, without laying it out: `spent` is its length in characters.

    It is exact as long as the sizes are; a size that is too high is made up for by `exact`.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._turns = [0, *accumulate(item.role is not Role.TOOLS for item in items)]
        self._calls = [0, *accumulate(item.calls for item in items)]
        self._taken: list[int] = []
        self.spent = self._gap(0, len(items)) - len(BETWEEN)

    @classmethod
    def exact(cls, items: Sequence[Item], taken: Taken) -> "Ledger":
        """The account of what *taken* takes."""
        ledger = cls(items)
        for index in sorted(taken):
            ledger.take(index, len(shown(items[index].text, taken[index])))
        return ledger

    def cost(self, index: int, characters: int) -> int:
        """What showing *characters* more of the item at *index* adds, with its label and the gaps that it makes."""
        at = bisect_left(self._taken, index)
        if at < len(self._taken) and self._taken[at] == index:
            return characters
        before = self._taken[at - 1] + 1 if at else 0
        after = self._taken[at] if at < len(self._taken) else len(self._items)
        gaps = self._gap(before, index) + self._gap(index + 1, after) - self._gap(before, after)
        return len(label(self._items[index])) + characters + len(BETWEEN) + gaps

    def take(self, index: int, characters: int) -> None:
        self.spent += self.cost(index, characters)
        at = bisect_left(self._taken, index)
        if at == len(self._taken) or self._taken[at] != index:
            self._taken.insert(at, index)

    def _gap(self, start: int, end: int) -> int:
        """What the mark for the items from *start* up to *end* takes, with what parts it from the next."""
        if start == end:
            return 0
        mark = _mark(self._turns[end] - self._turns[start], self._calls[end] - self._calls[start])
        return len(mark) + len(BETWEEN)
