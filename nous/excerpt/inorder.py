"""Filling a room with whole items in a given order; what does not fit is passed over and the fill goes on."""

from collections.abc import Iterable, Sequence

from nous.excerpt.choice import Choice
from nous.excerpt.items import Item
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import ends, full_length
from nous.prose import Span


def whole_in_order(items: Sequence[Item], order: Iterable[int], *, kept: Choice, room: int) -> Choice:
    """*kept* and every further item of *order* that fits into *room*."""
    spans, reasons = dict(kept.spans), dict(kept.reasons)
    ledger = Ledger.exact(items, spans)
    for index in order:
        size = full_length(items[index].text)
        if index not in spans and ledger.spent + ledger.cost(index, size) <= room:
            ledger.take(index, size)
            spans[index] = ((0, len(items[index].text)),)
            reasons[index] = "next in order"
    return Choice(spans, reasons)


def until_full(items: Sequence[Item], order: Iterable[int], *, room: int) -> Choice:
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
    return Choice(spans, dict.fromkeys(spans, "next in order"))
