"""LRU cache of fact indexes, which read only new rows of the log; the stores to query."""

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING

from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.knowledge.fact_index import FactIndex
from nous.store.base import AnchoredSummaries, Episodes, FactLog, SessionStates

if TYPE_CHECKING:
    from nous.retrieval.search import ScopeIndex

_PAGE = 8192  # rows read in one request: with their vectors some 20 MB


@dataclass(slots=True)
class _CachedScope:
    lock: RLock = field(default_factory=RLock)
    knowledge: FactIndex | None = None
    scope_index: "ScopeIndex | None" = None

    def caught_up(self, log: FactLog, scope: Scope, embedder: Embedder) -> FactIndex:
        """Return the index with new rows of the log; rebuilt if the log is another or reading fails."""
        known, self.knowledge = self.knowledge, None
        while True:
            added = log.read(scope, after=known.version if known else None, embedder=embedder.id, limit=_PAGE)
            if known is None or added.complete:
                known, self.scope_index = FactIndex(embedder_id=embedder.id, dim=embedder.dim), None
            known.extend(added.rows, added.vectors)
            known.version = added.version
            if self.scope_index:
                self.scope_index.take(added.rows)
            if len(added.rows) < _PAGE:
                self.knowledge = known
                return known


class FactCache:
    """LRU cache of fact indexes by scope and embedder, shared by the threads of a process."""

    def __init__(self, *, scopes: int = 64) -> None:
        self._most = scopes
        self._lock = Lock()
        self._scopes: OrderedDict[tuple[Scope, str, int], _CachedScope] = OrderedDict()

    @contextmanager
    def current(self, log: FactLog, scope: Scope, embedder: Embedder) -> Generator[FactIndex]:
        """Yield the up-to-date index of *scope*, locked. Raises `Unavailable`, `Misconfigured`."""
        cached = self._cached(scope, embedder)
        with cached.lock:
            yield cached.caught_up(log, scope, embedder)

    @contextmanager
    def scope_index(self, log: FactLog, scope: Scope, embedder: Embedder) -> "Generator[ScopeIndex]":
        """Yield the search index of *scope*, up-to-date and locked like that of `current`."""
        from nous.retrieval.search import ScopeIndex  # noqa: PLC0415 (only a search needs it)

        with self.current(log, scope, embedder) as knowledge:
            cached = self._cached(scope, embedder)
            cached.scope_index = cached.scope_index or ScopeIndex(knowledge)
            yield cached.scope_index

    def _cached(self, scope: Scope, embedder: Embedder) -> _CachedScope:
        key = scope, embedder.id, embedder.dim
        with self._lock:
            if key not in self._scopes:
                self._scopes[key] = _CachedScope()
            self._scopes.move_to_end(key)
            if len(self._scopes) > self._most:
                self._scopes.popitem(last=False)
            return self._scopes[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    episodes: Episodes
    facts: FactLog
    fact_cache: FactCache
    anchored_summaries: AnchoredSummaries
    session_states: SessionStates
    embedder: Embedder
