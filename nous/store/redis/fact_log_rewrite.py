"""Replace a whole fact log in Redis by what an erasure or a redaction leaves of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import redis

from nous.domain.errors import Retryable
from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased
from nous.redis_support.scripts import Scripts
from nous.store.fact_rows import LogEntry, VectorSlot, chained, runs
from nous.store.keys import StoreKeys
from nous.store.redis.fact_log import RedisFactLog

_ATTEMPTS = 20
_HELD = 20  # lifetime of the lock in seconds, renewed by each step: how long appends wait after a rewriter died
_ROWS_PER_COMMAND = 1000  # Lua's `unpack`, which passes arguments to a command, fails near 8,000

Rewrite = Callable[[Sequence[Row]], Erased]


class RedisLogRewriter(RedisFactLog):
    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        super().__init__(client, keys)
        self._run = Scripts(client, package="nous.bus.redis")

    def rewrite(self, scope: Scope, rewrite: Rewrite) -> Erased:
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

    def _swap(self, scope: Scope, old: LogVersion, entries: Sequence[LogEntry], erased: Erased) -> bool:
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
