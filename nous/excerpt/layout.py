"""How an excerpt is laid out: labelled items in order, and a line for each gap that names what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from nous.excerpt.items import Item, Role
from nous.excerpt.spans import full_length, shown
from nous.prose import Span

BETWEEN = "\n\n"
_OF_CALLS = frozenset({Role.TOOLS, Role.PLAN})
_OF_TOOLS = _OF_CALLS | {Role.OUTPUT}

Taken = Mapping[int, tuple[Span, ...]]
"""Which spans of which item are shown, by the item's position."""


def whole(items: Sequence[Item]) -> dict[int, tuple[Span, ...]]:
    """Every item in full."""
    return {index: ((0, len(item.text)),) for index, item in enumerate(items)}


def laid_out(items: Sequence[Item], taken: Taken, *, heading: str = "") -> str:
    """The excerpt: *heading*, then the taken items in order with a mark for every gap."""
    return BETWEEN.join([heading, *_paragraphs(items, taken)] if heading else _paragraphs(items, taken))


def fits_whole(items: Sequence[Item], room: int) -> bool:
    """Whether all of *items* can be shown whole in *room* characters."""
    return sum(len(item.text) for item in items) <= room and length_of(items) <= room


def length_of(items: Sequence[Item]) -> int:
    """How many characters *items* take if all of them are shown whole; nothing else stands between them then."""
    lengths = [label_length(item) + full_length(item.text) + len(BETWEEN) for item in items]
    return sum(lengths) - len(BETWEEN) if lengths else 0


def label(item: Item) -> str:
    return f"[{item.role} of {item.of}] " if item.of else f"[{item.role}] "


def label_length(item: Item) -> int:
    return len(item.role) + len("[] ") + (len(" of ") + len(item.of) if item.of else 0)


def turns_in(item: Item) -> int:
    """How many turns a gap has more if *item* is missing."""
    return int(item.role not in _OF_TOOLS)


def calls_in(item: Item) -> int:
    """How many tool calls a gap has more if *item* is missing."""
    return len(item.entries) if item.role in _OF_CALLS else 0


def gap_mark(turns: int, calls: int) -> str:
    """What stands in the place of so many turns and tool calls; nothing in the place of none."""
    if not turns and not calls:
        return ""
    missing = [_counted(turns, "turn")] * (turns > 0) + [_counted(calls, "tool call")] * (calls > 0)
    return f"[... {', '.join(missing)} omitted ...]"


def gap_length(turns: int, calls: int) -> int:
    """The length of that mark, without making it."""
    of_turns = len(str(turns)) + (5 if turns == 1 else 6) if turns else 0
    of_calls = len(str(calls)) + (10 if calls == 1 else 11) if calls else 0
    return of_turns + of_calls + (20 if turns and calls else 18 if turns or calls else 0)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _paragraphs(items: Sequence[Item], taken: Taken) -> Iterator[str]:
    for is_taken, run in groupby(range(len(items)), key=lambda index: bool(taken.get(index))):
        if is_taken:
            yield from (label(items[index]) + shown(items[index].text, taken[index]) for index in run)
        else:
            missing = [items[index] for index in run]
            if mark := gap_mark(sum(map(turns_in, missing)), sum(map(calls_in, missing))):
                yield mark
