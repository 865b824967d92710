"""Fast excerpt strategy: user turns and approvals, external effects, then the latest items."""

from nous.excerpt.floor import floor
from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy, whole_in_order


def choose(items: Items, room: int) -> Choice:
    kept = floor(items, room)
    return whole_in_order(items, range(len(items) - 1, -1, -1), kept=kept, room=room) if kept.spans else kept


STRATEGY = Strategy(choose)
