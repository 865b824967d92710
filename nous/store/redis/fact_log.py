"""Read fact logs and vectors from Redis.

The log is written by `nous.store.redis.plans` and `.erasure`. A read takes one round trip if nothing was
appended, or nothing with a vector; two otherwise, and three if the log was rewritten.
"""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from nous.domain.errors import Misconfigured, Retryable
from nous.domain.fact import LogVersion, embedding
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.store.base import LogSlice
from nous.store.fact_rows import LogEntry, VectorSlot, runs, vector_of, version_at
from nous.store.redis import StorePart


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
