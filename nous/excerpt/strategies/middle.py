"""Baseline excerpt strategy: keep the session's beginning and end, and omit its middle."""

from nous.excerpt.items import Items
from nous.excerpt.strategy import Choice, Strategy, until_full


def choose(items: Items, room: int) -> Choice:
    return until_full(items, _from_both_ends(len(items)), room=room)


def _from_both_ends(count: int) -> list[int]:
    pairs = zip(range(count), reversed(range(count)), strict=True)
    return list(dict.fromkeys(index for pair in pairs for index in pair))


STRATEGY = Strategy(choose)
