"""What somebody who understands both texts has ruled, where the texts alone left it open."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from nous.domain.scope import Matter
from nous.facts.judge import Known, Linked, Richer, Supersedes


class Relation(StrEnum):
    """How a statement stands to a known one."""

    SAME = "same"
    MORE = "more"
    LESS = "less"
    CORRECTS = "corrects"
    DIFFERENT = "different"


class Ruling(NamedTuple):
    """A relation, who found it, and why."""

    relation: Relation
    by: str
    why: str = ""


class Doubt(NamedTuple):
    """A statement that may be the fact *fact_id*, and the words of both."""

    form: str
    fact_id: UUID
    said: str
    known: str


Rulings = Mapping[tuple[str, UUID], Ruling]
"""By the exact form of the statement, and the fact it was held against."""


class Arbiter(Protocol):
    """Somebody who understands texts."""

    def rule(self, doubts: Sequence[Doubt], *, matter: Matter) -> Rulings:
        """How the statements of *doubts* stand to the known ones, as far as that is clear; what is not stays open.

        It does not fail: who cannot be asked rules nothing. What was asked is kept as about *matter*.
        """
        ...


def ruled(verdict: Linked, ruling: Ruling) -> Known | Richer | Supersedes | Linked:
    """*verdict*, which is open, as *ruling* has it; the reason says who ruled."""
    fact_id, similarity = verdict.fact_id, verdict.similarity
    by = f"{ruling.by}: {ruling.why}" if ruling.why else ruling.by
    match ruling.relation:
        case Relation.SAME:
            return Known(fact_id=fact_id, reason=f"the same, says {by}", similarity=similarity)
        case Relation.LESS:
            reason = f"less than is known, says {by}"
            return Known(fact_id=fact_id, reason=reason, similarity=similarity, is_less=True)
        case Relation.MORE:
            return Richer(fact_id=fact_id, reason=f"the same and more, says {by}", similarity=similarity)
        case Relation.CORRECTS:
            return Supersedes(fact_id=fact_id, reason=f"another value of the same, says {by}", similarity=similarity)
        case Relation.DIFFERENT:
            reason = f"{verdict.reason}; not the same, says {by}"
            return Linked(fact_id=fact_id, reason=reason, similarity=similarity)
