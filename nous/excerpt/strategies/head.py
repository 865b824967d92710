"""The beginning: the baseline that knows nothing."""

from nous.excerpt.choice import Choice, Strategy
from nous.excerpt.inorder import until_full
from nous.excerpt.items import Items


def choose(items: Items, room: int) -> Choice:
    return until_full(items, range(len(items)), room=room)


STRATEGY = Strategy(choose)
