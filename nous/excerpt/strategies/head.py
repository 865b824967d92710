"""The beginning: the baseline that knows nothing."""

from collections.abc import Sequence

from nous.excerpt.choice import Choice, Strategy
from nous.excerpt.inorder import until_full
from nous.excerpt.items import Item


def choose(items: Sequence[Item], room: int) -> Choice:
    return until_full(items, range(len(items)), room=room)


STRATEGY = Strategy(choose)
