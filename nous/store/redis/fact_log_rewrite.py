"""Replace a whole fact log in Redis: write a copy of its rows, then swap atomically."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from secrets import token_hex

import redis

from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts
from nous.store.fact_rows import LogEntry, VectorSlot, chained, runs
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart
from nous.store.redis.fact_log import RedisFactLog

_HELD = 20  # lifetime of the lock in seconds, renewed by each step: how long appends wait after a rewriter died
_ASIDE = 3600  # lifetime of a copy in seconds
_ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class WholeLog:
    """A complete log at *version*; `head` is the version as stored."""

    version: LogVersion
    entries: tuple[LogEntry, ...]
    rows: tuple[Row, ...]

    @property
    def head(self) -> bytes:
        return b"" if self.version == LogVersion() else str(self.version).encode()


def _new_log(log: WholeLog, erased: Erased) -> tuple[tuple[LogEntry, ...], LogVersion]:
    """Return entries and version for *erased*; by its epoch, none equals a version of *log*.

    Vectors stay where they are, so those that are appended later come after all that there ever were.
    """
    rows = [(row, log.entries[at].slot if embedding(row) else None) for row, at in erased.rows]
    epoch = log.version.epoch + 1
    entries, version = chained(rows, LogVersion(chain=f"epoch-{epoch}", epoch=epoch))
    return entries, replace(version, vectors=log.version.vectors)


def _unused(log: WholeLog, entries: Sequence[LogEntry]) -> Iterator[VectorSlot]:
    """Yield the places of the vectors of *log* to which none of *entries* refers."""
    used = {entry.slot for entry in entries}
    for row, entry in zip(log.rows, log.entries, strict=True):
        if entry.slot and entry.slot not in used and (found := embedding(row)):
            yield VectorSlot(found[1], entry.slot)


class RedisLogs(StorePart):
    """Whole-log reader and writer on one Redis primary."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        super().__init__(client, keys)
        self._log = RedisFactLog(client, keys)
        self._run = Scripts(client, package="nous.bus.redis")

    def hold(self, scope: Scope) -> None:
        """Take or renew the lock by which commits wait to append; one past it may append once."""
        self._ask("SET", self._keys.rewriting(scope), "", "EX", _HELD)

    def release(self, scope: Scope) -> None:
        self._ask("DEL", self._keys.rewriting(scope))

    def read(self, scope: Scope) -> WholeLog:
        version, entries = self._log.tail(scope)
        return WholeLog(version, tuple(entries), tuple(entry.row for entry in entries))

    def put(self, scope: Scope, log: WholeLog, erased: Erased) -> bool:
        """Replace *log* by *erased*; return False, without a change, if it has changed since."""
        entries, version = _new_log(log, erased)
        copy = self._keys.aside(scope, log.head.decode(), token_hex(8), "0")
        for start in range(0, len(entries), _ROWS_AT_ONCE):
            batch = [entry.encode() for entry in entries[start : start + _ROWS_AT_ONCE]]
            if not self._write(scope, log, copy, batch, is_begun=start > 0):
                return False
        gone = [(run[0], run[-1].offset + run[-1].size - run[0].offset) for run in runs(_unused(log, entries))]
        blocks = (
            self._keys.fact_vectors(scope, first.embedder, dim=first.slot.dim, block=first.block) for first, _ in gone
        )
        keys = (self._keys.fact_head(scope), copy, self._keys.fact_rows(scope), *blocks)
        ranges = chain.from_iterable((first.offset, size) for first, size in gone)
        return bool(self._run("swap_key", keys, (log.head, str(version), len(entries), *ranges)))

    def tidy(self, scope: Scope) -> None:
        """Delete the copies of rewrites: a process that still makes one starts again."""
        with translated():
            written = list(self._client.scan_iter(f"{self._keys.asides_of(scope)}*", count=1000))
            if written:
                self._client.unlink(*written)

    def _write(self, scope: Scope, log: WholeLog, copy: str, rows: Sequence[bytes], *, is_begun: bool) -> bool:
        """Append *rows* to *copy* if the log is still *log* and *copy* still exists, once begun.

        Returns whether that was so. Thus a slow writer neither recreates a key after `tidy`, nor continues with one
        that has expired.
        """
        head = self._keys.fact_head(scope)
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.watch(head, copy)
            if (pipe.get(head) or b"") != log.head or (is_begun and not pipe.exists(copy)):
                return False
            pipe.multi()
            pipe.expire(self._keys.rewriting(scope), _HELD)
            pipe.rpush(copy, *rows)
            pipe.expire(copy, _ASIDE)
            with suppress(redis.WatchError):
                pipe.execute()
                return True
        return False
