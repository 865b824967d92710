"""Filling a room with whole items in a given order; what does not fit is passed over and the fill goes on."""

from collections.abc import Iterable

from nous.excerpt.choice import Choice
from nous.excerpt.items import Items
from nous.excerpt.ledger import Ledger
from nous.excerpt.spans import ends, full_length
from nous.prose import Span

_LEAST = 16
"""Characters of room in which nothing is looked for any more: about what a label takes."""

_LONGEST_GAP = 80
"""More than a mark takes that is saved when the last item of a gap is shown."""


def whole_in_order(items: Items, order: Iterable[int], *, kept: Choice, room: int) -> Choice:
    """*kept* and every further item of *order* that fits into *room*."""
    choice = Choice(dict(kept.spans), dict(kept.reasons), dict(kept.scores))
    ledger = Ledger.exactly(items, choice.spans)
    for index in order:
        spare = room - ledger.spent
        if spare < _LEAST:
            break
        if index in choice.spans or len(items[index].text) > spare + _LONGEST_GAP:
            continue
        size = full_length(items[index].text)
        if ledger.spent + ledger.cost(index, size) <= room:
            ledger.take(index, size)
            choice.take(index, ((0, len(items[index].text)),), reason="next in order")
    return choice


def until_full(items: Items, order: Iterable[int], *, room: int) -> Choice:
    """The items of *order* up to the first that does not fit, and as much of that one as does."""
    spans: dict[int, tuple[Span, ...]] = {}
    ledger = Ledger(items)
    for index in order:
        left = room - ledger.spent - ledger.cost(index, 0)
        size = full_length(items[index].text)
        if taken := ends(items[index].text, left):
            spans[index] = taken
            ledger.take(index, min(size, left))
        if size > left:
            break
    return Choice.of(spans, reason="next in order")
