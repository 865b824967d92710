"""Default excerpt strategy: user turns and approvals, external effects, then most new terms."""

from nous.excerpt.coverage import cover
from nous.excerpt.floor import floor
from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy


def choose(items: Items, room: int) -> Choice:
    kept = floor(items, room)
    return cover(items, kept, room) if kept.spans else kept


STRATEGY = Strategy(choose, add=cover)
