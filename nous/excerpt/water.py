"""Sharing a scarce length: everyone gets in proportion to a weight, nobody more than is needed or less than is owed."""

from collections.abc import Sequence
from dataclasses import dataclass

_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class Claim:
    """Someone's wish for between *owed* and *needed* characters."""

    weight: float
    owed: int
    needed: int


def shares(claims: Sequence[Claim], room: int) -> list[int]:
    """How many characters each of *claims* gets, in all at most *room*, or what is owed if even that is more.

    The level is found by bisection: a claim gets `weight * level`, held between what it is owed and what it needs.
    """
    low, high = 0.0, max((claim.needed / claim.weight for claim in claims), default=0.0)
    if sum(_at(high, claims)) <= room:
        return _at(high, claims)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if sum(_at(middle, claims)) <= room:
            low = middle
        else:
            high = middle
    return _at(low, claims)


def _at(level: float, claims: Sequence[Claim]) -> list[int]:
    return [min(claim.needed, max(claim.owed, int(claim.weight * level))) for claim in claims]
