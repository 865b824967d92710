"""How near is near enough."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from nous.caps import MOST_CANDIDATES

CALIBRATED = frozenset({"all-MiniLM-L6-v2-int8"})
"""The embedders for which the default of `Policy.one_sided` was measured."""


class Dedup(StrEnum):
    """Which rule decides that two texts say the same."""

    GUARDED = "guarded"
    COSINE = "cosine"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rule and its thresholds.

    `threshold` is the cosine that the plain rule has to exceed strictly. `near` is the cosine from which the guard
    looks at a pair, `one_sided` the calibrated one (tau) from which a text may have words that the other lacks; None
    means that the embedder was never calibrated, so that only texts of equal content are merged. `cap` bounds the facts
    of an episode.
    """

    dedup: Dedup = Dedup.GUARDED
    threshold: float = 0.95
    near: float = 0.80
    one_sided: float | None = 0.93
    cap: int = MOST_CANDIDATES

    def for_embedder(self, embedder_id: str) -> Self:
        """The same policy, less the calibrated threshold if it was calibrated for another embedder."""
        return self if embedder_id in CALIBRATED else replace(self, one_sided=None)
