"""Define verdicts on candidate facts, thresholds, and the port of models that compare facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol, Self
from uuid import UUID

from nous.domain.fact import Fact, LinkKind
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import MOST_CANDIDATES
from nous.knowledge.statement import KnownFact


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """No known fact is similar."""

    name: ClassVar[str] = "new"
    reason: str = "nothing known is near"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnFact:
    """A verdict about *fact_id*, by a model if `is_ruled`; a cosine is None if it is not known."""

    fact_id: UUID
    reason: str
    similarity: float | None = None
    is_ruled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyKnown(_OnFact):
    """The known fact says the same, and more if `is_less`."""

    name: ClassVar[str] = "known"
    is_less: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Richer(_OnFact):
    """The candidate says what the known fact says, and more."""

    name: ClassVar[str] = "richer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersedes(_OnFact):
    """The candidate states another value; `is_announced` is as in `equivalence.update.Update`."""

    is_announced: bool = False
    name: ClassVar[str] = "supersedes"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTo(_OnFact):
    """The candidate is close to the known fact but not the same; the reason says what differs.

    `kind` and `likelihood` are as in `nous.domain.fact.Linked`.
    """

    kind: LinkKind = LinkKind.RELATED
    likelihood: float | None = None

    @property
    def name(self) -> str:
        return "duplicate" if self.kind is LinkKind.DUPLICATE else "linked"


Verdict = NewFact | AlreadyKnown | Richer | Supersedes | LinkedTo


class Relation(StrEnum):
    """Relation of a new fact to a known one, as a model sees it.

    `CORRECTS`: the one stated later replaces the other, no matter which is the new one.
    """

    SAME = "same"
    LESS = "less"
    MORE = "more"
    CORRECTS = "corrects"
    DIFFERENT = "different"


class Adjudication(NamedTuple):
    """A relation, its author (`by`) and the reason.

    A relation without a reason was not stated: such a pair is `DIFFERENT`, unless the texts themselves decide it.
    """

    relation: Relation
    by: str
    why: str = ""

    @property
    def is_stated(self) -> bool:
        return self.relation is not Relation.DIFFERENT or bool(self.why)

    def __str__(self) -> str:
        return f"{self.relation}, says {self.by}" + (f": {self.why}" if self.why else "")


class UncertainFact(NamedTuple):
    """A new fact that the texts alone do not decide on, and current facts that it may concern.

    These come with their cosines, or 0 if they only share the subject; *linked* is what the texts compare it with.
    """

    fact: Fact
    known: Sequence[tuple[KnownFact, float]]
    linked: UUID | None = None


FactRulings = Mapping[UUID, Adjudication]  # by known fact
Rulings = Mapping[UUID, FactRulings]  # by new fact


class Adjudicator(Protocol):
    """Port to a model that can compare facts by meaning."""

    def adjudicate(self, facts: Sequence[UncertainFact], *, matter: CacheSubject) -> Rulings:
        """Return how each new fact stands to those it may concern; unclear pairs are missing.

        Never raises: an adjudicator that cannot be reached returns no rulings. Requests are stored under the cache
        subject *matter*.
        """
        ...


CALIBRATED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2-int8": 0.955})
"""Calibrated embedders and their thresholds (tau); `nous.knowledge.calibration` measures others."""


class Dedup(StrEnum):
    GUARDED = "guarded"
    COSINE = "cosine"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Deduplication rule and its thresholds, as cosines; a cap.

    - `threshold`: the plain cosine rule merges strictly above it.
    - `equal`: from here on, texts of equal content are one fact.
    - `near`: from here on, two facts are linked.
    - `one_sided` (tau): from here on, one text may have words that the other lacks. If None, only texts of equal
      content merge.
    - `cap`: the maximum number of facts of an episode.
    """

    dedup: Dedup = Dedup.GUARDED
    threshold: float = 0.95
    near: float = 0.80
    equal: float = 0.65
    one_sided: float | None = None
    cap: int = MOST_CANDIDATES

    def for_embedder(self, embedder_id: str) -> Self:
        """Return the policy with `one_sided` as it is set, else as measured for the embedder."""
        return self if self.one_sided is not None else replace(self, one_sided=CALIBRATED.get(embedder_id))
