"""Default excerpt strategy: user turns and approvals, external effects, then most new terms.

In a conversation between two people nothing is guaranteed. It keeps the turns that state most about their lives.
"""

from nous.excerpt.coverage import cover
from nous.excerpt.dialogue import is_talk, most_told
from nous.excerpt.floor import floor
from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy


def choose(items: Items, room: int) -> Choice:
    if is_talk(items):
        return most_told(items, room)
    kept = floor(items, room)
    return cover(items, kept, room) if kept.spans else kept


STRATEGY = Strategy(choose, add=cover)
