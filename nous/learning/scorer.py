"""The port of a model that scores pairs of texts, and a fake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class PairScorer(Protocol):
    """A local model that estimates whether two texts say the same; threads may share it."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return a probability, between 0 and 1, for each of *pairs*, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class ScriptedScorer:
    """A `PairScorer` with the scores it is given, whichever text comes first; 0 for other pairs."""

    scores: Mapping[frozenset[str], float]

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [self.scores.get(frozenset(pair), 0.0) for pair in pairs]
