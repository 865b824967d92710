"""Read fact logs and vectors from Redis; replace a log by what an erasure leaves of it.

Rows are appended by `nous.store.redis.plans`. A read takes one round trip if nothing was appended, or nothing with a
vector; two otherwise, and three if the log was rewritten.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast
from uuid import UUID

import redis

from nous.domain.errors import Misconfigured, Retryable
from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts
from nous.store.base import LogSlice
from nous.store.fact_rows import LogEntry, VectorSlot, chained, runs, vector_of, version_at
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart

if TYPE_CHECKING:
    from nous.knowledge.erase import Erased  # loads the comparison of facts, which a reader does not need


class RedisFactLog(StorePart):
    def read(
        self, scope: Scope, *, after: LogVersion | None = None, embedder: str | None = None, limit: int | None = None
    ) -> LogSlice:
        start = after.n if after else 0
        head, entries = self.tail(scope, known=start, limit=limit)
        if after and start and not _continues(head, entries, after):
            return self.read(scope, embedder=embedder, limit=limit)
        new = entries[1:] if start else entries
        version = version_at(new, head, after=after)
        rows = tuple(entry.row for entry in new)
        places: dict[UUID, VectorSlot] = {}
        for row, entry in zip(rows, new, strict=True):
            if (found := embedding(row)) and entry.slot is not None and embedder in {None, found[1]}:
                places[found[0]] = VectorSlot(found[1], entry.slot)
        stored = self._vectors(scope, tuple(places.values()), version) if places else ()
        vectors = {fact_id: vector_of(raw, place) for (fact_id, place), raw in zip(places.items(), stored, strict=True)}
        return LogSlice(version=version, rows=rows, vectors=vectors, complete=start == 0)

    def tail(self, scope: Scope, *, known: int = 0, limit: int | None = None) -> tuple[LogVersion, list[LogEntry]]:
        """Return the log's version, and entries from the last of the *known* ones on.

        At most *limit* entries are new. Both are read in one transaction. Raises what `read` raises.
        """
        first = max(known - 1, 0)
        last = -1 if limit is None else known + limit - 1
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.get(self._keys.fact_head(scope))
            pipe.lrange(self._keys.fact_rows(scope), first, last)
            head, stored = pipe.execute()
        version = LogVersion.parse(head.decode()) if head else LogVersion()
        # A commit that broke off may have left entries behind the head.
        entries = [LogEntry.decode(entry) for entry in stored[: max(version.n - first, 0)]]
        end = version.n if limit is None else min(version.n, known + limit)
        is_last = end == version.n
        if version.n > first and (first + len(entries) != end or (is_last and entries[-1].chain != version.chain)):
            raise Misconfigured(f"the fact log of {scope} is damaged: its rows do not lead to its version {version}")
        return version, entries

    def _vectors(self, scope: Scope, places: Sequence[VectorSlot], version: LogVersion) -> Sequence[bytes]:
        batch = list(runs(places))
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.lindex(self._keys.fact_rows(scope), version.n - 1)
            for run in batch:
                first, last = run[0], run[-1]
                key = self._keys.fact_vectors(scope, first.embedder, dim=first.slot.dim, block=first.block)
                pipe.getrange(key, first.offset, last.offset + last.size - 1)
            last_row, *stored = cast("list[bytes]", pipe.execute())
        if not last_row or LogEntry.decode(last_row).chain != version.chain:
            raise Retryable(f"the fact log of {scope} was rewritten while it was read")
        pairs = zip(batch, stored, strict=True)
        return [raw[at * run[0].size : (at + 1) * run[0].size] for run, raw in pairs for at in range(len(run))]


def _continues(version: LogVersion, entries: Sequence[LogEntry], known: LogVersion) -> bool:
    """Return whether the log continues *known*, the version at the first of *entries*."""
    if version.epoch != known.epoch or version.n < known.n:
        return False
    return entries[0].chain == known.chain


_ATTEMPTS = 20
_HELD = 20  # lifetime of the lock in seconds, renewed by each step: how long appends wait after a rewriter died
_ROWS_PER_COMMAND = 1000  # Lua's `unpack`, which passes arguments to a command, fails near 8,000

Rewrite = Callable[[Sequence[Row]], "Erased"]


class RedisLogRewriter(RedisFactLog):
    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        super().__init__(client, keys)
        self._run = Scripts(client, package="nous.bus.redis")

    def rewrite(self, scope: Scope, rewrite: Rewrite) -> "Erased":
        """Replace the fact log of *scope* by what *rewrite* makes of it, under a new epoch.

        A writer that has read the old log gets a conflict when it appends. It then reads the new log from its
        beginning. Raises `Retryable` if others kept appending to the log.
        """
        try:
            for _ in range(_ATTEMPTS):
                # Renewed at each step: a step may outlast the lock, and a concurrent erasure may have released it.
                self._hold(scope)
                version, entries = self.tail(scope)
                self._hold(scope)
                erased = rewrite([entry.row for entry in entries])
                self._hold(scope)
                if not erased.has_changed or self._swap(scope, version, entries, erased):
                    return erased
        finally:
            self._ask("DEL", self._keys.rewriting(scope))
        raise Retryable(f"others keep appending to the fact log of {scope}: it was not rewritten; repeat it")

    def _hold(self, scope: Scope) -> None:
        """Take or renew the lock by which commits wait to append; one past it may append once."""
        self._ask("SET", self._keys.rewriting(scope), "", "EX", _HELD)

    def _swap(self, scope: Scope, old: LogVersion, entries: Sequence[LogEntry], erased: "Erased") -> bool:
        """Replace the log by *erased*; return False, without a change, if it is no longer at *old*."""
        changed = [(row, entries[at].slot if embedding(row) else None) for row, at in erased.rows]
        epoch = old.epoch + 1  # by which no version equals one of the old log
        left, new = chained(changed, LogVersion(chain=f"epoch-{epoch}", epoch=epoch))
        # Vectors stay where they are, so those that are appended later come after all that there ever were.
        new = replace(new, vectors=old.vectors)
        rows = [entry.encode() for entry in left]
        batches = [b"\n".join(rows[at : at + _ROWS_PER_COMMAND]) for at in range(0, len(rows), _ROWS_PER_COMMAND)]
        gone = [(run[0], run[-1].offset + run[-1].size - run[0].offset) for run in runs(_unused(entries, left))]
        blocks = (
            self._keys.fact_vectors(scope, first.embedder, dim=first.slot.dim, block=first.block) for first, _ in gone
        )
        keys = (self._keys.fact_head(scope), self._keys.fact_rows(scope), *blocks)
        ranges = chain.from_iterable((first.offset, size) for first, size in gone)
        head = "" if old == LogVersion() else str(old)
        return bool(self._run("swap_log", keys, (head, str(new), *ranges, *batches)))


def _unused(entries: Sequence[LogEntry], left: Sequence[LogEntry]) -> Iterator[VectorSlot]:
    """Yield the places of the vectors of *entries* to which none of those *left* refers."""
    used = {entry.slot for entry in left}
    for entry in entries:
        if entry.slot and entry.slot not in used and (found := embedding(entry.row)):
            yield VectorSlot(found[1], entry.slot)
