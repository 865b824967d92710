"""Render chosen parts of items as labelled text, with marks for omissions; compute lengths."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Self

from nous.domain.summary_input import BETWEEN, Segment
from nous.excerpt.items import Gap, Item, Items, no_label
from nous.text.sentences import TICKS, Fence, Span, fence_at, fences

SHORT_MARK = " [...] "
# Replaces a long run of blanks. The space keeps a bracket off the start of the line, where a label begins.
_BLANKS = "\n "
_WORTH_COUNTING = 600
_LONGEST_WORD = 24
HEAD = 2 / 3  # share of a cut text that is its beginning; the rest is its end


def mark(omitted: int) -> str:
    return SHORT_MARK if omitted < _WORTH_COUNTING else f" [... {omitted} characters ...] "


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return *spans* in order, merging those that touch or overlap."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def shown(text: str, spans: Sequence[Span]) -> str:
    """Render the *spans* of *text*, sorted and disjoint, with a mark for each omission."""
    blocks = fences(text)
    parts: list[str] = []
    position = 0
    for start, end in spans:
        part = _closed(text, (start, end), blocks) if blocks else text[start:end]
        _append(parts, _between(text[position:start], blocks), part)
        parts.append(part)
        position = end
    _append(parts, _between(text[position:], blocks), "")
    return "".join(parts).strip(" ")


def shown_length(text: str, spans: Sequence[Span]) -> int:
    is_whole = len(spans) == 1 and spans[0] == (0, len(text))
    return len(text.strip(" ")) if is_whole and TICKS not in text else len(shown(text, spans))


def full_length(text: str) -> int:
    """Return the length of *text* shown whole, with an open code block closed."""
    return len(shown(text, ((0, len(text)),))) if TICKS in text else len(text.strip(" "))


def most_added(text: str, span: Span, *, closing: int, to_nothing: bool) -> int:
    """Return an upper bound for the characters that showing *span* adds, or adds *to_nothing*."""
    if span == (0, len(text)):
        return len(text) + closing
    return span[1] - span[0] + (1 + to_nothing) * len(mark(len(text))) + 2 * closing


def ends(text: str, room: int) -> tuple[Span, ...]:
    """Return the beginning and the end of *text* that fit into *room*; none if it is tiny."""
    if full_length(text) <= room:
        return ((0, len(text)),)
    kept = room - len(mark(len(text))) - 3 * longest_closing(text)
    if kept < 1:
        return ()
    tail = int(kept * (1 - HEAD))
    return merged(((0, back_to_a_blank(text, kept - tail)), (_on_to_a_blank(text, len(text) - tail), len(text))))


def longest_closing(text: str) -> int:
    """Return an upper bound for closing or reopening a code block of *text*, in characters."""
    return max((len(block.ticks) + 1 for block in fences(text)), default=0) if TICKS in text else 0


def _between(omitted: str, blocks: Sequence[Fence]) -> str:
    """Return the text in place of *omitted*: itself if shorter than its mark, else the mark.

    Blank space gets no mark. Beside code *blocks*, any words get one, since words from a block would stand outside it.
    """
    if len(omitted) <= len(SHORT_MARK) and not (blocks and omitted.strip()):
        return omitted
    return mark(len(omitted)) if omitted.strip() else _BLANKS


def _append(parts: list[str], between: str, following: str) -> None:
    """Add *between*, on its own line where a code block ends before it or begins after it."""
    if between.strip():
        between = f"\n{between.strip()} " if parts and parts[-1].endswith(TICKS) else between
        between = f"{between.rstrip()}\n" if following.startswith(TICKS) else between
    is_apart = bool(parts) and parts[-1].endswith((" ", "\n"))
    parts.append(between.removeprefix(" ") if is_apart and between.strip() else between)


def back_to_a_blank(text: str, end: int) -> int:
    """Return the end of the last whole word before *end* if that is near, else *end*."""
    begun = max(0, end - _LONGEST_WORD)
    blank = max(text.rfind(" ", begun, end), text.rfind("\n", begun, end))
    return blank if blank > 0 else end


def _on_to_a_blank(text: str, start: int) -> int:
    blanks = [at for at in (text.find(each, start, start + _LONGEST_WORD) for each in " \n") if at >= 0]
    return min(blanks) + 1 if blanks else start


def _closed(text: str, span: Span, blocks: tuple[Fence, ...]) -> str:
    start, end = _outside_of_ticks(span, blocks)
    opened, left_open = fence_at(start, blocks), fence_at(end, blocks)
    before = f"{opened.ticks}\n" if opened else ""
    after = f"\n{left_open.ticks}" if left_open else ""
    part = no_label(text[start:end]) if opened else text[start:end]
    return f"{before}{part}{after}"


def _outside_of_ticks(span: Span, blocks: tuple[Fence, ...]) -> Span:
    """Shrink *span* so that it does not split the ticks that open or close a block."""
    start, end = span
    opened, left_open = fence_at(start, blocks), fence_at(end, blocks)
    if opened and opened.is_closed and start > opened.closing:
        start = opened.end
    if left_open and end < left_open.start + len(left_open.ticks):
        end = left_open.start
    elif left_open and left_open.is_closed and end > left_open.closing:
        end = left_open.closing
    return start, max(start, end)


_NEW_LINE = "\n"  # separator before a code block, which cannot begin on the line of a label
_NOUNS = ("turn", "tool call", "error")

Taken = Mapping[int, tuple[Span, ...]]


def whole(items: Sequence[Item]) -> dict[int, tuple[Span, ...]]:
    return {index: ((0, len(item.text)),) for index, item in enumerate(items)}


def laid_out(items: Items, taken: Taken, *, heading: str = "") -> tuple[Segment, ...]:
    """Return the excerpt: *heading*, then the taken items in order with a mark per gap."""
    segments = _segments(items, taken)
    return (Segment(heading), *segments) if heading else tuple(segments)


def text_of(segments: Iterable[Segment]) -> str:
    return BETWEEN.join([text for text, *_ in segments])


def fits_whole(items: Sequence[Item], room: int) -> bool:
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
