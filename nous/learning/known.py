"""What a scope knows now: the fold of its log."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self
from uuid import UUID

from nous.errors import Misconfigured
from nous.fact import Confirmed, Fact, Learned, Linked, LogVersion, Row, Source, Superseded
from nous.learning.judge import Neighbour
from nous.learning.statement import Statement
from nous.learning.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    VectorsById = Mapping[UUID, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A fact with all that was said of it since: who said it, in which other words, and what came of it."""

    fact: Fact
    statement: Statement
    sources: tuple[Source, ...]
    said_as: tuple[str, ...] = ()
    superseded: Superseded | None = None
    links: tuple[Linked, ...] = ()

    @property
    def is_current(self) -> bool:
        return self.superseded is None

    @property
    def times_confirmed(self) -> int:
        """How many episodes have said it, the first one counted."""
        return len({source.episode_id for source in self.sources})

    def was_said_in(self, episode_id: UUID) -> bool:
        return any(source.episode_id == episode_id for source in self.sources)


class Knowledge:
    """The facts of one scope, and the vectors that one embedder made of them.

    Rows are taken in at a cost that depends on their number alone. It is not safe to share between threads; see
    `nous.store.knowledge`. Vectors of another embedder are passed over: they cannot be compared with this one's.
    """

    def __init__(self, *, embedder_id: str, dim: int, base: Self | None = None) -> None:
        """Know nothing yet, or what *base* knows, which stays as it is and must not grow meanwhile."""
        self.embedder_id = embedder_id
        self.dim = dim
        self.version = base.version if base else LogVersion()
        self._base = base
        self._facts: dict[UUID, KnownFact] = {}
        self._by_form: dict[str, UUID] = {}
        self._vectors = Vectors(dim)

    def branch(self) -> "Knowledge":
        """A knowledge to try things on, which leaves this one untouched."""
        return Knowledge(embedder_id=self.embedder_id, dim=self.dim, base=self)

    def extend(self, rows: Iterable[Row], vectors: "VectorsById") -> None:
        """Take in *rows*, in the order of the log, with the vectors of the facts they learned.

        Raises:
            Misconfigured: a vector of this embedder has not its dimension.
        """
        for row in rows:
            match row:
                case Learned():
                    self._learn(row, vectors)
                case Confirmed():
                    self._confirm(row)
                case Superseded():
                    self._change(row.fact_id, lambda known, row=row: replace(known, superseded=row))
                case Linked():
                    self._change(row.fact_id, lambda known, row=row: replace(known, links=(*known.links, row)))

    def get(self, fact_id: UUID) -> KnownFact | None:
        return self._facts.get(fact_id) or (self._base.get(fact_id) if self._base else None)

    def __getitem__(self, fact_id: UUID) -> KnownFact:
        """The fact of that id; KeyError where there is none."""
        known = self.get(fact_id)
        if known is None:
            raise KeyError(fact_id)
        return known

    def __iter__(self) -> Iterator[KnownFact]:
        """Every fact, superseded ones too, in the order they were learned."""
        if self._base:
            yield from (self._facts.get(known.fact.id, known) for known in self._base)
        yield from (known for known in self._facts.values() if not self._base or not self._base.get(known.fact.id))

    def current(self) -> Iterator[KnownFact]:
        return (known for known in self if known.is_current)

    def line(self, form: str) -> tuple[KnownFact, ...]:
        """The fact that was said in a text of this exact form, then what superseded it, and so on to the current one.

        Empty if none was. A ring, which no writer makes, is cut.
        """
        found: dict[UUID, KnownFact] = {}
        fact_id = self._form_owner(form)
        while fact_id and fact_id not in found and (known := self.get(fact_id)):
            found[fact_id] = known
            fact_id = known.superseded.by if known.superseded else None
        return tuple(found.values())

    def near(self, vector: "NDArray[np.float32]", floor: float) -> list[Neighbour]:
        """The current facts whose cosine with *vector* is at least *floor*, nearest first."""
        found = [
            Neighbour(fact_id=fact_id, statement=known.statement, similarity=similarity)
            for fact_id, similarity in self._near(vector, floor)
            if (known := self[fact_id]).superseded is None
        ]
        return sorted(found, key=lambda neighbour: -neighbour.similarity)

    def _near(self, vector: "NDArray[np.float32]", floor: float) -> list[tuple[UUID, float]]:
        there = self._base._near(vector, floor) if self._base else []  # noqa: SLF001  (its own kind)
        return there + self._vectors.near(vector, floor)

    def _form_owner(self, form: str) -> UUID | None:
        return self._by_form.get(form) or (self._base._form_owner(form) if self._base else None)  # noqa: SLF001  (likewise)

    def _learn(self, row: Learned, vectors: "VectorsById") -> None:
        fact = row.fact
        statement = Statement(fact.text)
        self._facts[fact.id] = KnownFact(fact=fact, statement=statement, sources=(fact.source,))
        self._by_form[statement.form] = fact.id
        if row.embedded_by == self.embedder_id and fact.id in vectors:
            vector = vectors[fact.id]
            if vector.shape != (self.dim,):
                raise Misconfigured(
                    f"the store has vectors of {self.embedder_id} with {vector.size} numbers, the embedder makes "
                    f"{self.dim}: set the embedder that the facts were learned with, or another data directory"
                )
            self._vectors.add(fact.id, vector)

    def _confirm(self, row: Confirmed) -> None:
        self._change(
            row.fact_id,
            lambda known: replace(known, sources=(*known.sources, row.source), said_as=(*known.said_as, row.text)),
        )
        form = Statement(row.text).form
        if self._form_owner(form) is None:
            self._by_form[form] = row.fact_id

    def _change(self, fact_id: UUID, change: Callable[[KnownFact], KnownFact]) -> None:
        known = self.get(fact_id)
        if known:
            self._facts[fact_id] = change(known)
