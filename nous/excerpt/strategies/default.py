"""A floor for what people said, decided and ended with; the rest to whatever covers most of the session."""

from collections.abc import Sequence

from nous.excerpt.choice import Choice
from nous.excerpt.coverage import cover
from nous.excerpt.floor import floor
from nous.excerpt.items import Item


def choose(items: Sequence[Item], room: int) -> Choice:
    kept = floor(items, room)
    return cover(items, kept, room) if kept.spans else kept
