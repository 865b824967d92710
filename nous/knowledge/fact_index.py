"""In-memory index of a scope's facts from its fact log; lookup by exact text or vector."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Self
from uuid import UUID

from nous.domain.errors import Misconfigured
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, LinkKind, LogVersion, Row, Superseded
from nous.knowledge.normalize import exact_form, subject_form
from nous.knowledge.statement import MOST_CONTRADICTED, Earlier, IsLater, KnownFact, Namesakes, Neighbour, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nous.knowledge.vector_scan import ExactScanIndex

    VectorsById = Mapping[UUID, NDArray[np.float32]]

Near = list[tuple[UUID, float]]

MOST_NEAR = 1000  # maximum number of neighbors that are returned, the nearest


class FactIndex:
    """Projection of one scope's fact log, with the vectors of one embedder.

    Applying rows costs time proportional to their number alone. Not thread-safe; see `nous.store.fact_cache`. Vectors
    of other embedders are skipped, since they cannot be compared with this one's.
    """

    def __init__(self, *, embedder_id: str, dim: int, base: Self | None = None) -> None:
        """Start empty, or on top of *base*, which stays unchanged and must not grow meanwhile."""
        self.embedder_id = embedder_id
        self.dim = dim
        self.version = base.version if base else LogVersion()
        self._base = base
        self._facts = ChainMap[UUID, KnownFact]({}, *(base._facts.maps if base else ()))  # noqa: SLF001  (same class)
        self._by_form = ChainMap[str, UUID]({}, *(base._by_form.maps if base else ()))  # noqa: SLF001  (same class)
        self._by_subject: dict[str, dict[UUID, None]] = {}
        self._waiting = ChainMap[UUID, None]({}, *(base._waiting.maps if base else ()))  # noqa: SLF001  (same class)
        self._carried: list[Confirmed] = list(base._carried) if base else []  # noqa: SLF001  (same class)
        self._has_strays = base._has_strays if base else False  # noqa: SLF001  (same class)

    @cached_property
    def _vectors(self) -> "ExactScanIndex":
        from nous.knowledge.vector_scan import ExactScanIndex  # noqa: PLC0415 (loads numpy, which only vectors need)

        return ExactScanIndex(self.dim)

    def fork(self) -> "FactIndex":
        """Return a copy-on-write index for tentative changes; this one stays unchanged."""
        return FactIndex(embedder_id=self.embedder_id, dim=self.dim, base=self)

    def extend(self, rows: Iterable[Row], vectors: "VectorsById") -> None:
        """Apply *rows* in log order, with vectors by fact. Raises `Misconfigured`."""
        for row in rows:
            match row:
                case Learned():
                    self._learn(row, vectors)
                case Confirmed():
                    self._confirm(row)
                case Superseded(is_undone=True):
                    self._undo(row)
                case Superseded():
                    self._supersede(row)
                case Linked():
                    for fact_id in {row.fact_id, row.other}:
                        self._change(fact_id, lambda known, row=row: replace(known, links=(*known.links, row)))
                case Embedded():
                    self._embed(row, vectors)

    def get(self, fact_id: UUID) -> KnownFact | None:
        return self._facts.get(fact_id)

    def __getitem__(self, fact_id: UUID) -> KnownFact:
        return self._facts[fact_id]

    def __iter__(self) -> Iterator[KnownFact]:
        """Iterate over all facts, superseded ones included, in the order they were learned."""
        return iter(self._facts.values())

    def current(self) -> Iterator[KnownFact]:
        return (known for known in self if known.is_current)

    def without_vector(self) -> Iterator[KnownFact]:
        """Yield current facts without a vector of this embedder, in the order they were learned."""
        found = (self[fact_id] for fact_id in self._waiting)
        return (known for known in found if known.is_current and not known.is_embedded)

    def revisions(self, form: str) -> tuple[KnownFact, ...]:
        """Return the fact stated in this form, then each successor; nothing if there is none."""
        return tuple(self._line_of(self._by_form.get(form)))

    def _line_of(self, fact_id: UUID | None) -> Iterator[KnownFact]:
        for known in self.successors(fact_id):
            yield known
            if known.superseded and known.superseded.valid_to:
                return

    def successors(self, fact_id: UUID | None) -> Iterator[KnownFact]:
        """Yield the fact, then each fact that superseded the one before; a cycle is cut."""
        passed: set[UUID] = set()
        while fact_id and fact_id not in passed and (known := self.get(fact_id)):
            yield known
            passed.add(fact_id)
            fact_id = known.superseded.by if known.superseded else None

    def earlier(self, fact_id: UUID) -> tuple[Earlier, ...]:
        """Return the earlier values of the fact and of those merged into it, latest first."""
        found = [
            Earlier(old.fact.id, old.fact.text, row.valid_to, old.trust)
            for old, row in self._predecessors(fact_id)
            if row.valid_to
        ]
        return tuple(sorted(found, key=lambda each: each.until, reverse=True))

    def apart_from(self, fact_id: UUID) -> Mapping[UUID, Linked]:
        """Return what a person keeps apart from the fact or those merged into it, with the links."""
        return {
            known.fact.id: link
            for other, link in self.links_of(fact_id)
            if link.kind is LinkKind.APART
            for known in self.successors(other)
            if known.fact.id != fact_id
        }

    def links_of(self, fact_id: UUID) -> Iterator[tuple[UUID, Linked]]:
        """Yield the links in force of the fact and of those merged into it, with the other's id."""
        merged = (old for old, _ in self._predecessors(fact_id, merged_only=True))
        for known in (self[fact_id], *merged):
            yield from known.standing_links.items()

    def _predecessors(self, fact_id: UUID, *, merged_only: bool = False) -> Iterator[tuple[KnownFact, Superseded]]:
        """Yield the facts that this one superseded, directly or through others, with the rows."""
        passed, waiting = {fact_id}, [fact_id]
        while waiting and (known := self.get(waiting.pop())):
            for row in known.replaces:
                old = self.get(row.fact_id)
                if old and row.fact_id not in passed and not (merged_only and row.valid_to):
                    passed.add(row.fact_id)
                    waiting.append(row.fact_id)
                    yield old, row

    def named(self, beginning: str) -> Sequence[KnownFact]:
        """Return the facts whose id begins with *beginning*, with or without hyphens."""
        wanted = beginning.casefold().replace("-", "")
        return [known for known in self if known.fact.id.hex.startswith(wanted)] if wanted else []

    def namesakes(self, subject: str) -> Namesakes:
        """Return the current facts with that subject, newest first, at most `MOST_CONTRADICTED`."""
        found = (self[fact_id] for fact_id in self._of_subject(subject_form(subject)))
        current = islice((known for known in found if known.is_current), MOST_CONTRADICTED)
        return {known.fact.id: known.statement for known in current}

    def is_later(self, at: datetime) -> IsLater:
        return lambda fact_id: self[fact_id].said_at > at

    def near(self, vector: "NDArray[np.float32]", floor: float) -> list[Neighbour]:
        """Return the nearest current facts within *floor*, at most `MOST_NEAR`."""
        return [
            Neighbour(fact_id=fact_id, statement=self[fact_id].statement, similarity=similarity)
            for fact_id, similarity in self._near(vector.astype("float32", copy=False), floor)
        ]

    def _near(self, vector: "NDArray[np.float32]", floor: float) -> Near:
        """Return the nearest facts, here and in the base, whose own ones may be superseded since."""
        found: dict[UUID, float] = {}
        before = self._base._near(vector, floor) if self._base else ()  # noqa: SLF001  (same class)
        for proposals in (self._vectors.near(vector, floor), before):
            current = (each for each in proposals if (known := self.get(each[0])) and known.is_current)
            found |= islice(current, MOST_NEAR)
        return sorted(found.items(), key=lambda near: -near[1])[:MOST_NEAR]

    def _of_subject(self, form: str) -> Iterator[UUID]:
        """Yield facts by subject; those of the base may have been superseded since."""
        yield from reversed(self._by_subject.get(form, {}))
        if self._base:
            yield from self._base._of_subject(form)  # noqa: SLF001  (same class)

    def _learn(self, row: Learned, vectors: "VectorsById") -> None:
        fact = row.fact
        statement = Statement(fact.text, fact.subject)
        has_vector = self._store_vector(fact.id, row.embedded_by, vectors)
        self._facts[fact.id] = KnownFact(fact=fact, statement=statement, reason=row.reason, is_embedded=has_vector)
        self._by_form[statement.form] = fact.id
        self._await(self._facts[fact.id])

    def _await(self, known: KnownFact) -> None:
        """Let a current fact be found by its subject, and by those that embed facts late."""
        if subject := subject_form(known.fact.subject):
            self._by_subject.setdefault(subject, {})[known.fact.id] = None
        if not known.is_embedded:
            self._waiting[known.fact.id] = None

    def _embed(self, row: Embedded, vectors: "VectorsById") -> None:
        """Apply the first vector that a fact gets by this embedder; ignore later ones."""
        known = self.get(row.fact_id)
        if known and not known.is_embedded and self._store_vector(row.fact_id, row.embedded_by, vectors):
            self._waiting.pop(row.fact_id, None)
            self._facts[row.fact_id] = replace(known, is_embedded=True)

    def _store_vector(self, fact_id: UUID, embedder: str | None, vectors: "VectorsById") -> bool:
        """Store the vector of the fact if it is of this embedder; return whether it is."""
        vector = vectors.get(fact_id)
        if embedder != self.embedder_id or vector is None:
            return False
        if vector.shape != (self.dim,):
            raise Misconfigured(
                f"the store has vectors of {self.embedder_id} with {vector.size} numbers, the embedder makes "
                f"{self.dim}: set the embedder that the facts were learned with, or another data directory"
            )
        self._vectors.add(fact_id, vector)
        return True

    def _supersede(self, row: Superseded) -> None:
        self._change(row.fact_id, lambda known: replace(known, superseded=row))
        self._change(row.by, lambda known: replace(known, replaces=(*known.replaces, row)))
        self._waiting.pop(row.fact_id, None)
        if known := self.get(row.fact_id):
            self._by_subject.get(subject_form(known.fact.subject), {}).pop(row.fact_id, None)
        if self._has_strays:
            self._attribute()

    def _undo(self, row: Superseded) -> None:
        """Make a superseded fact current again, with the confirmations stated in its words."""
        known = self.get(row.fact_id)
        gone = known.superseded if known else None
        if known is None or gone is None or gone.by != row.by:
            return
        left = tuple(each for each in self[row.by].replaces if each.fact_id != row.fact_id)
        self._change(row.by, lambda by: replace(by, replaces=left, undone=(*by.undone, gone, row)))
        self._change(row.fact_id, lambda known: replace(known, superseded=None, undone=(*known.undone, gone, row)))
        self._await(known)
        self._attribute()

    def _attribute(self) -> None:
        """Count the confirmations that came with merges again: other merges are in force now."""
        carried, self._carried, self._has_strays = self._carried, [], False
        for fact_id in {fact_id for row in carried for fact_id in (row.fact_id, row.merged_from) if fact_id}:
            self._change(
                fact_id,
                lambda known: replace(known, confirmed=tuple(row for row in known.confirmed if not row.merged_from)),
            )
        for row in carried:
            self._confirm(row)

    def _confirm(self, row: Confirmed) -> None:
        """Count another source, for the fact whose words it has if its merge is not in force."""
        said, fact_id = (row.source, row.text), row.fact_id
        if row.merged_from:
            self._carried.append(row)
            line = [known.fact.id for known in self._line_of(row.merged_from)]
            if line and fact_id not in line:
                fact_id, self._has_strays = row.merged_from, True
        if row.merged_from and (known := self.get(fact_id)):  # a merge that is repeated brings its sources twice
            others = tuple(each for each in known.confirmed if (each.source, each.text) != said)
            is_own = said == (known.fact.source, known.fact.text)
            self._facts[fact_id] = replace(known, confirmed=others if is_own else (*others, row))
        else:
            self._change(fact_id, lambda known: replace(known, confirmed=(*known.confirmed, row)))
        self._by_form.setdefault(exact_form(row.text), fact_id)

    def _change(self, fact_id: UUID, change: Callable[[KnownFact], KnownFact]) -> None:
        if known := self.get(fact_id):
            self._facts[fact_id] = change(known)
