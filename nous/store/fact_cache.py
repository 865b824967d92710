"""What a process remembers of the scopes it works on, so that it reads only what was added to a log since."""

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, RLock

from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.facts.fact_index import Knowledge
from nous.facts.vector_scan import CandidateIndex, CandidateIndexes
from nous.search.corpus import Shelf
from nous.store.base import NO_VECTORS, FactLog

_AT_ONCE = 8192
"""Rows that are read at once: with their vectors some 20 MB."""


@dataclass(slots=True)
class _Remembered:
    index: CandidateIndex | None
    lock: RLock = field(default_factory=RLock)
    knowledge: Knowledge | None = None
    shelf: Shelf | None = None

    def caught_up(self, log: FactLog, scope: Scope, embedder: Embedder) -> Knowledge:
        """The knowledge with what the log has more, or a new one where the log no longer continues what was known.

        One that could not be brought up to date is forgotten.
        """
        known, self.knowledge = self.knowledge, None
        made_by = NO_VECTORS if self.index else embedder.id
        while True:
            added = log.read(scope, after=known.version if known else None, embedder=made_by, limit=_AT_ONCE)
            if known is None or added.complete:
                known, self.shelf = self._nothing_known(log, scope, embedder), None
            known.extend(added.rows, added.vectors, slots=added.slots)
            known.version = added.version
            if self.shelf:
                self.shelf.take(added.rows)
            if len(added.rows) < _AT_ONCE:
                self.knowledge = known
                return known

    def _nothing_known(self, log: FactLog, scope: Scope, embedder: Embedder) -> Knowledge:
        fetch = partial(log.vectors, scope, embedder=embedder.id, dim=embedder.dim)
        return Knowledge(embedder_id=embedder.id, dim=embedder.dim, index=self.index, fetch=fetch)


class FactMemory:
    """The knowledge of the scopes used last, one for each embedder; shared by the threads of a process."""

    def __init__(self, *, scopes: int = 64, indexes: CandidateIndexes | None = None) -> None:
        """Remember at most *scopes* of them, with the vectors, unless those are in *indexes*."""
        self._most = scopes
        self.indexes = indexes
        self._lock = Lock()
        self._scopes: OrderedDict[tuple[Scope, str, int], _Remembered] = OrderedDict()

    @contextmanager
    def current(self, log: FactLog, scope: Scope, embedder: Embedder) -> Generator[Knowledge]:
        """What *scope* knows now, for reading; nobody else changes it before the `with` ends.

        Raises:
            Unavailable: the log did not answer.
            Misconfigured: the log holds vectors of this embedder with another dimension.
        """
        remembered = self._remembered((scope, embedder.id, embedder.dim))
        with remembered.lock:
            yield remembered.caught_up(log, scope, embedder)

    @contextmanager
    def shelf(self, log: FactLog, scope: Scope, embedder: Embedder) -> Generator[Shelf]:
        """What *scope* knows now, to be searched; nobody else changes it before the `with` ends.

        Raises:
            Unavailable: the log did not answer.
            Misconfigured: the log holds vectors of this embedder with another dimension.
        """
        remembered = self._remembered((scope, embedder.id, embedder.dim))
        with remembered.lock:
            knowledge = remembered.caught_up(log, scope, embedder)
            remembered.shelf = remembered.shelf or Shelf(knowledge)
            yield remembered.shelf

    def _remembered(self, key: tuple[Scope, str, int]) -> _Remembered:
        with self._lock:
            remembered = self._scopes.get(key) or self._scopes.setdefault(key, _Remembered(self._index_of(*key)))
            self._scopes.move_to_end(key)
            if len(self._scopes) > self._most:
                self._scopes.popitem(last=False)
            return remembered

    def _index_of(self, scope: Scope, embedder: str, dim: int) -> CandidateIndex | None:
        return self.indexes.of(scope, embedder=embedder, dim=dim) if self.indexes else None
