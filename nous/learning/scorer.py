"""The port of a model that scores pairs of texts."""

from collections.abc import Sequence
from typing import Protocol


class PairScorer(Protocol):
    """Says how likely two texts say the same. It may be shared by threads, and answers from this machine."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return a probability, between 0 and 1, for each of *pairs*, in their order."""
        ...
