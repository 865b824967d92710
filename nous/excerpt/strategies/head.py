"""Baseline excerpt strategy: keep the beginning of the session, up to the budget."""

from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy, until_full


def choose(items: Items, room: int) -> Choice:
    return until_full(items, range(len(items)), room=room)


STRATEGY = Strategy(choose)
