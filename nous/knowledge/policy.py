"""Deduplication policy: the rule, its thresholds by embedder, and the port to a pair scorer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, Self

from nous.domain.summary_input import MOST_CANDIDATES


class PairScorer(Protocol):
    """Port to a local model that estimates whether two texts say the same; thread-safe."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return a probability, between 0 and 1, for each of *pairs*, in order."""
        ...


CALIBRATED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2-int8": 0.955})
"""Calibrated embedders and their thresholds (tau); `nous.knowledge.calibration` measures others."""


class Dedup(StrEnum):
    """Rule that decides whether two texts say the same."""

    GUARDED = "guarded"
    COSINE = "cosine"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Deduplication rule and its thresholds, as cosines.

    - `threshold`: the plain cosine rule merges strictly above it.
    - `equal`: from here on, texts of equal content are one fact.
    - `near`: from here on, two facts are linked.
    - `one_sided` (tau): from here on, one text may have words that the other lacks. If None, only texts of equal
      content merge. `measured` has it by embedder.

    `scorer` estimates whether two texts say the same, in place of the shipped classifier. `cap` is the maximum number
    of facts of an episode.
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
        """Return the policy with `one_sided` as it is set, else as measured for the embedder."""
        return self if self.one_sided is not None else replace(self, one_sided=self.measured.get(embedder_id))
