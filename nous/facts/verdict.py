"""Verdicts on a candidate, judged against the known facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Protocol, Self
from uuid import UUID

from nous.domain.fact import LinkKind
from nous.domain.summary_input import MOST_CANDIDATES
from nous.facts.equivalence.reading import Reading, read
from nous.facts.normalize import exact_form


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """Nothing known is like it."""

    name: ClassVar[str] = "new"
    reason: str = "nothing known is near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """*fact_id* says it already, and more if `is_less`.

    `similarity` is None where the texts are equal and no vector was asked.
    """

    name: ClassVar[str] = "known"
    fact_id: UUID
    reason: str
    similarity: float | None = None
    is_less: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Richer:
    """It says what *fact_id* says, and more."""

    name: ClassVar[str] = "richer"
    fact_id: UUID
    reason: str
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersedes:
    """It gives another value to what *fact_id* tells of, so that only one of them is true at a time.

    `similarity` is None where the two are of one subject, and too far apart for a cosine to be known.
    """

    name: ClassVar[str] = "supersedes"
    fact_id: UUID
    reason: str
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """It is close to *fact_id*, yet not the same; the reason says what differs.

    `is_open` means that the texts alone do not show it for certain: a model or a person may still decide. `kind` and
    `likelihood` are as in `nous.domain.fact.Linked`.
    """

    fact_id: UUID
    reason: str
    similarity: float | None
    is_open: bool = False
    kind: LinkKind = LinkKind.RELATED
    likelihood: float | None = None

    @property
    def name(self) -> str:
        return "duplicate" if self.kind is LinkKind.DUPLICATE else "linked"


Verdict = New | Known | Richer | Supersedes | Linked


@dataclass(frozen=True)
class Statement:
    """A text and what it is about, with what judging needs of it; each part is computed once, when it is asked for."""

    text: str
    subject: str = field(default="", compare=False)

    @cached_property
    def form(self) -> str:
        return exact_form(self.text)

    @cached_property
    def reading(self) -> Reading:
        return read(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word.key for word in self.reading.words if word.key.isdecimal())


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


CALIBRATED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2-int8": 0.955})
"""The embedders that come measured, and the threshold (tau) of each; `nous.facts.calibration` measures others."""


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
