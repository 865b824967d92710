"""Define verdicts on candidate facts, thresholds, and protocols of models comparing texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol, Self
from uuid import UUID

from nous.domain.fact import LinkKind
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import MOST_CANDIDATES


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """No known fact is similar."""

    name: ClassVar[str] = "new"
    reason: str = "nothing known is near"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnFact:
    """A verdict about *fact_id*; `similarity` is the cosine, None if unknown or not needed."""

    fact_id: UUID
    reason: str
    similarity: float | None = None


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

    `is_open` means that the texts alone do not show it for certain: a model or a person may still decide. `kind` and
    `likelihood` are as in `nous.domain.fact.Linked`.
    """

    is_open: bool = False
    kind: LinkKind = LinkKind.RELATED
    likelihood: float | None = None

    @property
    def name(self) -> str:
        return "duplicate" if self.kind is LinkKind.DUPLICATE else "linked"


Verdict = NewFact | AlreadyKnown | Richer | Supersedes | LinkedTo


class Relation(StrEnum):
    """Relation of a statement to a known fact, as a model sees it."""

    SAME = "same"
    MORE = "more"
    LESS = "less"
    CORRECTS = "corrects"
    DIFFERENT = "different"


class Adjudication(NamedTuple):
    """A relation, its author (`by`) and the reason."""

    relation: Relation
    by: str
    why: str = ""


class AmbiguousPair(NamedTuple):
    """A new statement *said*, with its exact form, and a known fact that may say the same."""

    form: str
    fact_id: UUID
    said: str
    known: str


Rulings = Mapping[tuple[str, UUID], Adjudication]
"""Adjudications by the statement's exact form and the fact it was compared with."""


class Adjudicator(Protocol):
    """Port to a model that can compare texts by meaning."""

    def adjudicate(self, doubts: Sequence[AmbiguousPair], *, matter: CacheSubject) -> Rulings:
        """Return the relation of each pair that is clear; unclear pairs stay open.

        Never raises: an adjudicator that cannot be reached returns no rulings. Requests are stored under the cache
        subject *matter*.
        """
        ...


def ruled(verdict: LinkedTo, adjudication: Adjudication) -> AlreadyKnown | Richer | Supersedes | LinkedTo:
    """Apply *adjudication* to the open *verdict*; the reason names the author."""
    fact_id, similarity = verdict.fact_id, verdict.similarity
    by = f"{adjudication.by}: {adjudication.why}" if adjudication.why else adjudication.by
    match adjudication.relation:
        case Relation.SAME:
            return AlreadyKnown(fact_id=fact_id, reason=f"the same, says {by}", similarity=similarity)
        case Relation.LESS:
            reason = f"less than is known, says {by}"
            return AlreadyKnown(fact_id=fact_id, reason=reason, similarity=similarity, is_less=True)
        case Relation.MORE:
            return Richer(fact_id=fact_id, reason=f"the same and more, says {by}", similarity=similarity)
        case Relation.CORRECTS:
            return Supersedes(fact_id=fact_id, reason=f"another value of the same, says {by}", similarity=similarity)
        case Relation.DIFFERENT:
            reason = f"{verdict.reason}; not the same, says {by}"
            return LinkedTo(fact_id=fact_id, reason=reason, similarity=similarity)


CALIBRATED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2-int8": 0.955})
"""Calibrated embedders and their thresholds (tau); `nous.knowledge.calibration` measures others."""


class Dedup(StrEnum):
    """Rule that decides whether two texts say the same."""

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
