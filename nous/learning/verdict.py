"""Verdicts on a candidate, judged against the known facts."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from nous.fact import LinkKind


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
    `likelihood` are as in `nous.fact.Linked`.
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
