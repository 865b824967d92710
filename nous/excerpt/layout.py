"""Lay out an excerpt: labelled items in order, and a line for each gap."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Self

from nous.domain.summary_input import BETWEEN, Segment
from nous.excerpt.items import Gap, Item, Items
from nous.excerpt.spans import full_length, shown, shown_length
from nous.text.sentences import TICKS, Span

_NEW_LINE = "\n"
"""Separator before a code block, which cannot begin on the line of a label."""

_NOUNS = ("turn", "tool call", "error")

Taken = Mapping[int, tuple[Span, ...]]
"""Spans to show of each item, by its position."""


def whole(items: Sequence[Item]) -> dict[int, tuple[Span, ...]]:
    """Return spans that show every item in full."""
    return {index: ((0, len(item.text)),) for index, item in enumerate(items)}


def laid_out(items: Items, taken: Taken, *, heading: str = "") -> tuple[Segment, ...]:
    """Return the excerpt: *heading*, then the taken items in order with a mark per gap."""
    segments = _segments(items, taken)
    return (Segment(heading), *segments) if heading else tuple(segments)


def text_of(segments: Iterable[Segment]) -> str:
    """Return *segments* as one text."""
    return BETWEEN.join([text for text, *_ in segments])


def fits_whole(items: Sequence[Item], room: int) -> bool:
    """Return whether all *items* can be shown whole in *room* characters."""
    return sum(len(item.text) for item in items) <= room and length_of(items) <= room


def length_of(items: Sequence[Item]) -> int:
    """Return the length of all *items* shown whole, in characters, without gaps."""
    lengths = [label_length(item) + full_length(item.text) + len(BETWEEN) for item in items]
    return sum(lengths) - len(BETWEEN) if lengths else 0


def label(item: Item) -> str:
    of = f" of {item.of}" if item.of else ""
    return f"[{item.role}{of}]{_NEW_LINE if item.text.startswith(TICKS) else ' '}"


def label_length(item: Item) -> int:
    return len(item.role) + len("[] ") + (len(" of ") + len(item.of) if item.of else 0)


@lru_cache(maxsize=1 << 12)
def gap_mark(gap: Gap) -> str:
    """Return the mark for *gap*, empty for an empty one; cached, since most gaps are alike."""
    counts = [f"{number} {noun}{'s' * (number > 1)}" for number, noun in zip(gap, _NOUNS, strict=True) if number]
    return f"[... {', '.join(counts)} omitted ...]" if counts else ""


def _segments(items: Items, taken: Taken) -> Iterator[Segment]:
    shown_at = sorted(index for index, spans in taken.items() if spans)
    for before, index in pairwise([-1, *shown_at, len(items)]):
        if mark := gap_mark(items.gap(before + 1, index)):
            yield Segment(mark)
        if index < len(items):
            item = items[index]
            yield Segment(label(item) + shown(item.text, taken[index]), str(item.role), item.turn)


class LengthAccount:
    """Running length of an excerpt in characters, as exact as the sizes passed in."""

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
        """Return the exact account of *taken*."""
        return cls(items, ((index, shown_length(items[index].text, taken[index])) for index in sorted(taken)))

    def cost(self, index: int, characters: int) -> int:
        """Return the cost of showing *characters* more of an item, with label and gap marks."""
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
        length = len(gap_mark(self._items.gap(start, end))) if end > start else 0
        return length + len(BETWEEN) if length else 0
