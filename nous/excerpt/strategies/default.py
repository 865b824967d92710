"""A floor for what people said, decided and ended with; the rest to whatever covers most of the session.

Where two people talk, there is no floor: what states most about their lives is kept.
"""

from nous.excerpt.coverage import cover
from nous.excerpt.dialogue import is_talk
from nous.excerpt.dialogue_selection import most_told
from nous.excerpt.floor import floor
from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy


def choose(items: Items, room: int) -> Choice:
    if is_talk(items):
        return most_told(items, room)
    kept = floor(items, room)
    return cover(items, kept, room) if kept.spans else kept


STRATEGY = Strategy(choose, add=cover)
