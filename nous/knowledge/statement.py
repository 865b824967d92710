"""Statement (a text with its derived forms) and neighbor: the input of judging a fact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from nous.knowledge.normalize import exact_form

if TYPE_CHECKING:
    from nous.knowledge.equivalence.reading import ParsedStatement

MOST_CONTRADICTED = 16
"""Maximum neighbors checked for an update or a duplicate, the nearest; and of the same subject, the newest."""


@dataclass(frozen=True)
class Statement:
    """A text and its subject, with the derived forms for judging, each computed on first use."""

    text: str
    subject: str = field(default="", compare=False)

    @cached_property
    def form(self) -> str:
        return exact_form(self.text)

    @cached_property
    def reading(self) -> "ParsedStatement":
        from nous.knowledge.equivalence.reading import read  # noqa: PLC0415 (commands that only read parse none)

        return read(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word.key for word in self.reading.words if word.key.isdecimal())


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A current fact near the candidate, with the cosine of the two."""

    fact_id: UUID
    statement: Statement
    similarity: float


Namesakes = Mapping[UUID, Statement]
"""Current facts with the candidate's subject, near or far."""

IsLater = Callable[[UUID], bool]
"""Return whether a known fact was stated after the candidate."""
