"""Several rankings as one."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Way(StrEnum):
    """How something is found."""

    WORDS = "words"
    MEANING = "meaning"
    FILE = "file"


WEIGHTS: Mapping[Way, float] = {Way.WORDS: 0.6, Way.MEANING: 0.4, Way.FILE: 0.4}
"""What the best of each ranking is worth; chosen on half the questions of tests/benchmarks/search.py."""

Nearness = Sequence[tuple[Key, float]]


@dataclass(frozen=True, slots=True)
class Found:
    """How well something answers in one way, from 0 to 1, what shows it, and whether that alone makes it a hit."""

    score: float
    detail: str
    is_near: bool = True


Rankings = Mapping[Way, Mapping[Key, Found]]


@dataclass(frozen=True, slots=True)
class Fused(Generic[Key]):
    """Something that was found, its score over all rankings, and the ways and details of each that has it."""

    key: Key
    score: float
    found_by: tuple[str, ...]


def fused(rankings: Rankings[Key], weights: Mapping[Way, float] = WEIGHTS) -> list[Fused[Key]]:
    """Everything that is near in any of *rankings*, best first: the sum of its scores, each times the weight.

    Scores are shares of the best in a ranking. That keeps what reciprocal ranks lose: by how much the first is better
    than the second.
    """
    scores: dict[Key, float] = {}
    reasons: dict[Key, list[str]] = {}
    for way, ranking in rankings.items():
        for key, found in ranking.items():
            scores[key] = scores.get(key, 0.0) + weights[way] * found.score
            reasons.setdefault(key, []).append(f"{way}: {found.detail}")
    near = {key for ranking in rankings.values() for key, found in ranking.items() if found.is_near}
    joined = [Fused(key, score, tuple(reasons[key])) for key, score in scores.items() if key in near]
    return sorted(joined, key=lambda each: -each.score)


def by_cosine(near: Nearness[Key]) -> dict[Key, Found]:
    """Cosines as a ranking, in which all are near."""
    best = max((cosine for _, cosine in near), default=1.0)
    return {key: Found(cosine / best, f"{cosine:.2f}") for key, cosine in near}
