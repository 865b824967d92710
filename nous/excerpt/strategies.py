"""Excerpt strategies by name: `default`, and `spec`, that of the original specification.

`default` takes user turns and approvals, external effects, then most new terms. In `spec`, every item begins at 1; +2
for a word of decision, +1 for the user, -1 for more than 500 characters with a code block or more than 10 line breaks.
The highest scores are taken whole, ties in order. An item that does not fit is skipped, and filling goes on. The first
and the last item are represented if there is room for both.
"""

from nous.domain.errors import BadInput
from nous.excerpt.coverage import cover
from nous.excerpt.floor import first_and_last, floor
from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import laid_out, text_of, whole
from nous.excerpt.strategy import Choice, Strategy, whole_in_order
from nous.text.language import words

_LONG = 500
_MANY_LINES = 10


def _most_telling(items: Items, room: int) -> Choice:
    kept = floor(items, room)
    return cover(items, kept, room) if kept.spans else kept


def _highest_scores(items: Items, room: int) -> Choice:
    order = sorted(range(len(items)), key=lambda index: (-score(items[index]), index))
    return whole_in_order(items, order, kept=_anchors(items, room), room=room)


def score(item: Item) -> int:
    has_code = "```" in item.text or item.text.count("\n") > _MANY_LINES
    decides = words().says("says_why", item.text)
    return 1 + 2 * decides + (item.role is Role.USER) - (len(item.text) > _LONG and has_code)


def _anchors(items: Items, room: int) -> Choice:
    picked = {index: spans for index, spans in whole(items).items() if index in {0, len(items) - 1}}
    if len(text_of(laid_out(items, picked))) <= room:
        return Choice.of(picked, reason="first or last")
    return first_and_last(items, room)


_STRATEGIES = {"default": Strategy(_most_telling, add=cover), "spec": Strategy(_highest_scores)}


def names() -> tuple[str, ...]:
    return tuple(_STRATEGIES)


def named(name: str) -> Strategy:
    """Return the strategy with that name; raise BadInput if there is none."""
    if name not in _STRATEGIES:
        raise BadInput(f"{name!r} is not a strategy: choose one of {', '.join(_STRATEGIES)}")
    return _STRATEGIES[name]
