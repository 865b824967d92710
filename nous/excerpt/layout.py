"""How an excerpt is laid out: labelled items in order, and a line for each gap that names what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from nous.excerpt.items import Item, Role
from nous.excerpt.spans import full_length, shown
from nous.prose import TICKS, Span

BETWEEN = "\n\n"
_NEW_LINE = "\n"
"""Before a code block, which would not begin behind a label."""

_NOUNS = ("turn", "tool call", "error")

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
    of = f" of {item.of}" if item.of else ""
    return f"[{item.role}{of}]{_NEW_LINE if item.text.startswith(TICKS) else ' '}"


def label_length(item: Item) -> int:
    return len(item.role) + len("[] ") + (len(" of ") + len(item.of) if item.of else 0)


def missing(item: Item) -> tuple[int, int, int]:
    """How many turns, tool calls and errors a gap leaves out more if *item* is in it.

    The output of a tool is none of them: its call stands for it.
    """
    role = item.role
    if role is Role.TOOLS or role is Role.PLAN:
        return 0, len(item.entries), 0
    if role is Role.OUTPUT:
        return 0, 0, 0
    return (0, 0, 1) if role is Role.ERROR else (1, 0, 0)


def gap_mark(turns: int, calls: int, errors: int) -> str:
    """What stands in the place of so much; nothing in the place of nothing."""
    told = [_counted(number, noun) for number, noun in zip((turns, calls, errors), _NOUNS, strict=True) if number]
    return f"[... {', '.join(told)} omitted ...]" if told else ""


def gap_length(turns: int, calls: int, errors: int) -> int:
    """The length of that mark, without making it."""
    if not (turns or calls or errors):
        return 0
    of_turns = len(str(turns)) + (5 if turns == 1 else 6) + 2 if turns else 0
    of_calls = len(str(calls)) + (10 if calls == 1 else 11) + 2 if calls else 0
    of_errors = len(str(errors)) + (6 if errors == 1 else 7) + 2 if errors else 0
    return of_turns + of_calls + of_errors - 2 + len("[...  omitted ...]")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _paragraphs(items: Sequence[Item], taken: Taken) -> Iterator[str]:
    for is_taken, run in groupby(range(len(items)), key=lambda index: bool(taken.get(index))):
        if is_taken:
            yield from (label(items[index]) + shown(items[index].text, taken[index]) for index in run)
        else:
            turns, calls, errors = map(sum, zip(*(missing(items[index]) for index in run), strict=True))
            if mark := gap_mark(turns, calls, errors):
                yield mark
