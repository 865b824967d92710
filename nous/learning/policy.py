"""How near is near enough."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from nous.caps import MOST_CANDIDATES
from nous.learning.scorer import PairScorer

CALIBRATED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2-int8": 0.955})
"""The embedders that come measured, and the threshold (tau) of each; `nous.learning.calibration` measures others."""


class Dedup(StrEnum):
    """Which rule decides that two texts say the same."""

    GUARDED = "guarded"
    COSINE = "cosine"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rule and its thresholds.

    `threshold` is the cosine that the plain rule has to exceed strictly. From `equal` on, texts of equal content are
    one fact, from `near` on two facts are linked, from `one_sided` (tau) on a text may have words that the other lacks;
    without it, only texts of equal content are merged. `measured` has it by embedder. *scorer* says how likely two
    texts say the same, in place of the classifier that is shipped. `cap` bounds the facts of an episode.
    """

    dedup: Dedup = Dedup.GUARDED
    threshold: float = 0.95
    near: float = 0.80
    equal: float = 0.65
    one_sided: float | None = None
    measured: Mapping[str, float] = field(default_factory=lambda: CALIBRATED)
    scorer: PairScorer | None = None
    cap: int = MOST_CANDIDATES

    def for_embedder(self, embedder_id: str) -> Self:
        """The policy with the threshold that was set, or else the one measured for the embedder, if it was."""
        return self if self.one_sided is not None else replace(self, one_sided=self.measured.get(embedder_id))
