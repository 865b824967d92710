"""What a scope knows now: the fold of its log."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Self
from uuid import UUID

from nous.domain.errors import Misconfigured
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, LinkKind, LogVersion, Row, Superseded, attributed
from nous.facts.judge import MOST_CONTRADICTED, Namesakes, Neighbour
from nous.facts.known_fact import Earlier, KnownFact
from nous.facts.normalize import subject_form
from nous.facts.vector_scan import CandidateIndex, Fetch, Proposals, Vectors, stacked
from nous.facts.verdict import Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    VectorsById = Mapping[UUID, NDArray[np.float32]]

Near = list[tuple[UUID, float]]

MOST_NEAR = 1000
"""Neighbours that are handed out at most, the nearest."""


class Knowledge:
    """The facts of one scope, and the vectors that one embedder made of them.

    Rows are taken in at a cost that depends on their number alone. It is not safe to share between threads; see
    `nous.store.fact_cache`. Vectors of another embedder are passed over: they cannot be compared with this one's.
    """

    def __init__(
        self,
        *,
        embedder_id: str,
        dim: int,
        base: Self | None = None,
        index: CandidateIndex | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        """Know nothing yet, or what *base* knows, which stays as it is and must not grow meanwhile.

        *index* has the vectors of this embedder that `extend` is not given. *fetch* is for those that it is given.
        """
        self.embedder_id = embedder_id
        self.dim = dim
        self.version = base.version if base else LogVersion()
        self._base = base
        self._facts: dict[UUID, KnownFact] = {}
        self._by_form: dict[str, UUID] = {}
        self._by_subject: dict[str, dict[UUID, None]] = {}
        self._index = index
        self._vectors = Vectors(dim, fetch=fetch)
        self._foreseen: dict[tuple[bytes, float], Near] = {}
        self._waiting: dict[UUID, None] = {}
        self._idle: list[Confirmed] = []

    def branch(self) -> "Knowledge":
        """A knowledge to try things on, which leaves this one untouched."""
        return Knowledge(embedder_id=self.embedder_id, dim=self.dim, base=self)

    def extend(
        self, rows: Iterable[Row], vectors: "VectorsById", *, slots: Mapping[UUID, int] = MappingProxyType({})
    ) -> None:
        """Take in *rows*, in the order of the log, with the vectors of the facts they learned, and their slots there.

        Raises:
            Misconfigured: a vector of this embedder has not its dimension.
        """
        for row in rows:
            match row:
                case Learned():
                    self._learn(row, vectors, slots)
                case Confirmed():
                    self._confirm(row)
                case Superseded(is_undone=True):
                    self._take_back(row)
                case Superseded():
                    self._supersede(row)
                case Linked():
                    self._link(row)
                case Embedded():
                    self._embed(row, vectors, slots)

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

    def without_vector(self) -> Iterator[KnownFact]:
        """The current facts that this knowledge's embedder has made no vector of, in the order they were learned."""
        before = self._base._waiting if self._base else {}  # noqa: SLF001  (its own kind)
        found = (self[fact_id] for fact_id in dict.fromkeys(chain(before, self._waiting)))
        return (known for known in found if known.is_current and not known.is_embedded)

    def line(self, form: str) -> tuple[KnownFact, ...]:
        """The fact that was said in a text of this exact form, then what took its place, and so on.

        The last one is current, or has been contradicted. Empty if none was said so.
        """
        return tuple(self._line_of(self._form_owner(form)))

    def _line_of(self, fact_id: UUID | None) -> Iterator[KnownFact]:
        for known in self.successors(fact_id):
            yield known
            if known.superseded and known.superseded.valid_to:
                return

    def successors(self, fact_id: UUID | None) -> Iterator[KnownFact]:
        """The fact, what took its place, and so on. A ring, which no writer makes, is cut."""
        passed: set[UUID] = set()
        while fact_id and fact_id not in passed and (known := self.get(fact_id)):
            yield known
            passed.add(fact_id)
            fact_id = known.superseded.by if known.superseded else None

    def leads_to(self, start: UUID | None, fact_id: UUID) -> bool:
        """Return whether *start* is the fact, or has given way to it, be it through others."""
        return any(known.fact.id == fact_id for known in self.successors(start))

    def earlier(self, fact_id: UUID) -> tuple[Earlier, ...]:
        """The values that the fact, or what was merged into it, took the place of, and those before; latest first."""
        found = [Earlier(old, row.valid_to) for old, row in self._predecessors(fact_id) if row.valid_to]
        return tuple(sorted(found, key=lambda each: each.until, reverse=True))

    def apart_from(self, fact_id: UUID) -> Mapping[UUID, Linked]:
        """The facts that a person keeps apart from this one, or from one merged into it; also what replaced them."""
        return {
            known.fact.id: link
            for other, link in self.links_of(fact_id)
            if link.kind is LinkKind.APART
            for known in self.successors(other)
            if known.fact.id != fact_id
        }

    def links_of(self, fact_id: UUID) -> Iterator[tuple[UUID, Linked]]:
        """Yield the standing links of the fact, and of those merged into it, each with the fact at its other end."""
        merged = (old for old, _ in self._predecessors(fact_id, merged_only=True))
        for known in (self[fact_id], *merged):
            yield from known.standing_links.items()

    def _predecessors(self, fact_id: UUID, *, merged_only: bool = False) -> Iterator[tuple[KnownFact, Superseded]]:
        """Walk the facts that gave way to this one, directly or through others, each with the row that says so."""
        passed, waiting = {fact_id}, [fact_id]
        while waiting and (known := self.get(waiting.pop())):
            for row in known.replaces:
                old = self.get(row.fact_id)
                if old and row.fact_id not in passed and not (merged_only and row.valid_to):
                    passed.add(row.fact_id)
                    waiting.append(row.fact_id)
                    yield old, row

    def namesakes(self, subject: str) -> Namesakes:
        """The current facts of that subject, newest first, `MOST_CONTRADICTED` of them at most; none of no subject."""
        found = (self[fact_id] for fact_id in self._of_subject(subject_form(subject)))
        current = islice((known for known in found if known.is_current), MOST_CONTRADICTED)
        return {known.fact.id: known.statement for known in current}

    def near(self, vector: "NDArray[np.float32]", floor: float) -> list[Neighbour]:
        """The current facts whose cosine with *vector* is at least *floor*, nearest first, `MOST_NEAR` of them at most.

        Raises what `CandidateIndex.near` raises.
        """
        [found] = self._near([vector], floor)
        return [
            Neighbour(fact_id=fact_id, statement=self[fact_id].statement, similarity=similarity)
            for fact_id, similarity in found
        ]

    def foresee(self, vectors: "Sequence[NDArray[np.float32]]", floor: float) -> None:
        """Look for what is near *vectors* in the base, all at once: one by one takes three times as long.

        What this branch learns later is found all the same. Raises what `CandidateIndex.near` raises.
        """
        if self._base and vectors:
            found = self._base._near(vectors, floor)  # noqa: SLF001  (its own kind)
            self._foreseen |= {(vector.tobytes(), floor): near for vector, near in zip(vectors, found, strict=True)}

    def _near(self, vectors: "Sequence[NDArray[np.float32]]", floor: float) -> list[Near]:
        rows = stacked(vectors)
        here = self._vectors.near(rows, floor, at=self.version)
        there = self._index.near(rows, floor, at=self.version) if self._index else [()] * len(rows)
        before = [self._near_in_base(vector, floor) for vector in vectors]
        return [self._current_of(*found) for found in zip(here, there, before, strict=True)]

    def _near_in_base(self, vector: "NDArray[np.float32]", floor: float) -> Near:
        if self._base is None:
            return []
        foreseen = self._foreseen.get((vector.tobytes(), floor))
        return self._base._near([vector], floor)[0] if foreseen is None else foreseen  # noqa: SLF001  (its own kind)

    def _current_of(self, *proposed: Proposals) -> Near:
        """Those that are known and current, the nearest first, each once."""
        found: dict[UUID, float] = {}
        for proposals in proposed:
            current = (each for each in proposals if (known := self.get(each[0])) and known.is_current)
            found |= islice(current, MOST_NEAR)
        return sorted(found.items(), key=lambda near: -near[1])[:MOST_NEAR]

    def _form_owner(self, form: str) -> UUID | None:
        return self._by_form.get(form) or (self._base._form_owner(form) if self._base else None)  # noqa: SLF001  (likewise)

    def _of_subject(self, form: str) -> Iterator[UUID]:
        """What was current in the base may have given way since."""
        yield from reversed(self._by_subject.get(form, {}))
        if self._base:
            yield from self._base._of_subject(form)  # noqa: SLF001  (likewise)

    def _learn(self, row: Learned, vectors: "VectorsById", slots: Mapping[UUID, int]) -> None:
        fact = row.fact
        statement = Statement(fact.text, fact.subject)
        has_vector = self._takes(fact.id, row.embedded_by, vectors, slots)
        self._facts[fact.id] = KnownFact(fact=fact, statement=statement, reason=row.reason, is_embedded=has_vector)
        self._by_form[statement.form] = fact.id
        if subject := subject_form(fact.subject):
            self._by_subject.setdefault(subject, {})[fact.id] = None
        if not has_vector:
            self._waiting[fact.id] = None

    def _embed(self, row: Embedded, vectors: "VectorsById", slots: Mapping[UUID, int]) -> None:
        """Of the vectors that a fact gets by this embedder, the first one alone is taken in."""
        known = self.get(row.fact_id)
        if known and not known.is_embedded and self._takes(row.fact_id, row.embedded_by, vectors, slots):
            self._waiting.pop(row.fact_id, None)
            self._facts[row.fact_id] = replace(known, is_embedded=True)

    def _takes(self, fact_id: UUID, embedder: str | None, vectors: "VectorsById", slots: Mapping[UUID, int]) -> bool:
        """Whether there is a vector of this knowledge's embedder; it is taken in, unless the index has it."""
        vector = vectors.get(fact_id)
        if embedder != self.embedder_id or vector is None:
            return embedder == self.embedder_id and self._index is not None
        if vector.shape != (self.dim,):
            raise Misconfigured(
                f"the store has vectors of {self.embedder_id} with {vector.size} numbers, the embedder makes "
                f"{self.dim}: set the embedder that the facts were learned with, or another data directory"
            )
        self._vectors.add(fact_id, vector, slot=slots.get(fact_id))
        return True

    def _supersede(self, row: Superseded) -> None:
        """Both ways: the one tells what took its place, the other whose place it took."""
        self._change(row.fact_id, lambda known: replace(known, superseded=row))
        self._change(row.by, lambda known: replace(known, replaces=(*known.replaces, row)))
        self._waiting.pop(row.fact_id, None)
        if known := self.get(row.fact_id):
            self._by_subject.get(subject_form(known.fact.subject), {}).pop(row.fact_id, None)
        idle, self._idle = self._idle, []
        for each in idle:
            self._confirm(each)

    def _take_back(self, row: Superseded) -> None:
        """Let the fact be current again, and take what was said in its words from those that it was merged into."""
        known = self.get(row.fact_id)
        gone = known.superseded if known else None
        if known is None or gone is None or gone.by != row.by:
            return
        self._change(
            row.by,
            lambda by: replace(
                by,
                replaces=tuple(each for each in by.replaces if each.fact_id != row.fact_id),
                undone=(*by.undone, gone, row),
            ),
        )
        self._change(row.fact_id, lambda known: replace(known, superseded=None, undone=(*known.undone, gone, row)))
        if not known.is_embedded:
            self._waiting[row.fact_id] = None
        if subject := subject_form(known.fact.subject):
            self._by_subject.setdefault(subject, {})[row.fact_id] = None
        for fact_id in [each.fact.id for each in self.successors(row.by)]:
            self._recount(fact_id)

    def _recount(self, fact_id: UUID) -> None:
        """Count what came to the fact by a merge that does not stand any more for those whose words it has."""
        known = self[fact_id]
        stays: list[Confirmed] = []
        moves: list[Confirmed] = []
        for row in known.confirmed:
            line = (each.fact.id for each in self._line_of(row.merged_from))
            (stays if row.merged_from is None or fact_id in line else moves).append(row)
        self._facts[fact_id] = replace(known, confirmed=tuple(stays))
        for row in moves:
            self._confirm(row)

    def _link(self, row: Linked) -> None:
        """Both ways: each of the two tells of the other."""
        for fact_id in {row.fact_id, row.other}:
            self._change(fact_id, lambda known: replace(known, links=(*known.links, row)))

    def _confirm(self, row: Confirmed) -> None:
        """Count another source; one that comes by a merge which does not stand, for the fact whose words it has."""
        line = [known.fact.id for known in self._line_of(row.merged_from)]
        said = attributed(row, line) if line else row
        if said is not row:
            self._idle.append(row)
            known = self[said.fact_id]
            if (said.source, said.text) in {(each.source, each.text) for each in (known.fact, *known.confirmed)}:
                return
        self._change(said.fact_id, lambda known: replace(known, confirmed=(*_others(known, said), said)))
        form = Statement(said.text).form
        if self._form_owner(form) is None:
            self._by_form[form] = said.fact_id

    def _change(self, fact_id: UUID, change: Callable[[KnownFact], KnownFact]) -> None:
        if known := self.get(fact_id):
            self._facts[fact_id] = change(known)


def _others(known: KnownFact, row: Confirmed) -> tuple[Confirmed, ...]:
    """Return the other confirmations of *known*: a merge that is made again brings the same sources twice."""
    if not known.undone:
        return known.confirmed
    return tuple(each for each in known.confirmed if (each.source, each.text) != (row.source, row.text))
