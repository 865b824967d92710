"""Adjudication of fact pairs that the rules leave open: the port to a model that reads both."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from nous.domain.scope import CacheSubject
from nous.knowledge.verdict import AlreadyKnown, LinkedTo, Richer, Supersedes


class Relation(StrEnum):
    """Relation of a statement to a known fact."""

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
