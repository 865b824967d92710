"""Fuse word, vector and file rankings by weighted sum; drop items relevant in none."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class Ranking(StrEnum):
    WORDS = "words"
    MEANING = "meaning"
    FILE = "file"


WEIGHTS: Mapping[Ranking, float] = {Ranking.WORDS: 0.6, Ranking.MEANING: 0.4, Ranking.FILE: 0.4}
"""Weight of the best item of each ranking; tuned on half the questions of tests/benchmarks/search.py."""

LEAST_COSINE = 0.30
"""Minimum cosine of a hit by meaning, measured there for all-MiniLM-L6-v2: other questions stay below."""

LEAST_SHARE = 0.30  # minimum fraction of the query's weight that a hit by words has


@dataclass(frozen=True, slots=True)
class RankedItem:
    """Score of an item in one ranking, 0 to 1, with evidence; `is_near` alone makes it a hit."""

    score: float
    detail: str
    is_near: bool = True


Rankings = Mapping[Ranking, Mapping[Key, RankedItem]]


def fused(rankings: Rankings[Key]) -> list[tuple[Key, float, tuple[str, ...]]]:
    """Return the items near in any of *rankings*, best first, by weighted sum of scores.

    Each comes with its score, and the name and evidence of each ranking that found it. Scores are fractions of the best
    in a ranking. That keeps what reciprocal rank fusion loses: by how much the first is better than the second.
    """
    scores: dict[Key, float] = {}
    reasons: dict[Key, list[str]] = {}
    for name, ranking in rankings.items():
        for key, found in ranking.items():
            scores[key] = scores.get(key, 0.0) + WEIGHTS[name] * found.score
            reasons.setdefault(key, []).append(f"{name}: {found.detail}")
    near = {key for ranking in rankings.values() for key, found in ranking.items() if found.is_near}
    joined = [(key, score, tuple(reasons[key])) for key, score in scores.items() if key in near]
    return sorted(joined, key=lambda each: -each[1])


def by_cosine(near: Sequence[tuple[Key, float]]) -> dict[Key, RankedItem]:
    best = max((cosine for _, cosine in near), default=1.0)
    return {key: RankedItem(cosine / best, f"{cosine:.2f}") for key, cosine in near}
