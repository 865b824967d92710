"""Replace a whole fact log in Redis: write it to temporary keys, then swap atomically."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any

import redis

from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts
from nous.store.fact_rows import LogEntry, Slot, VectorSlot, chained, divided, runs
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart
from nous.store.redis.fact_log import RedisFactLog

_HELD = 20  # lifetime of the lock in seconds, renewed by each step: how long appends wait after a rewriter died
_ASIDE = 3600  # lifetime of temporary keys in seconds
_ROWS_AT_ONCE = 1000
_VECTORS_AT_ONCE = 4096

_Command = tuple[Any, ...]  # a Redis command: its name, the key that it writes, and the other arguments


@dataclass(frozen=True, slots=True)
class WholeLog:
    """A complete log at *version*; `head` is the version as stored."""

    version: LogVersion
    entries: tuple[LogEntry, ...]
    rows: tuple[Row, ...]

    @property
    def head(self) -> bytes:
        return b"" if self.version == LogVersion() else str(self.version).encode()


_Moves = list[tuple[VectorSlot, VectorSlot]]  # the old and the new slot of each vector that is kept


def _new_log(log: WholeLog, erased: Erased) -> tuple[tuple[LogEntry, ...], LogVersion, _Moves]:
    """Return entries and version for *erased*; by its epoch, none equals a version of *log*."""
    rows: list[tuple[Row, Slot | None]] = []
    moves: _Moves = []
    for row, at in erased.rows:
        found, old = embedding(row), log.entries[at].slot
        slot = None
        if found and old:
            slot = Slot(len(moves), old.dim)
            moves.append((VectorSlot(found[1], old), VectorSlot(found[1], slot)))
        rows.append((row, slot))
    epoch = log.version.epoch + 1
    entries, version = chained(rows, LogVersion(chain=f"epoch-{epoch}", epoch=epoch))
    return entries, version, moves


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
        entries, version, moves = _new_log(log, erased)
        temporary = self._temporary_keys(scope, log, entries, moves)
        begun: set[str] = set()
        for commands in chain(self._rows(scope, entries, temporary), self._blocks(scope, moves, temporary)):
            if not self._write(scope, log, commands, begun):
                return False
            begun |= {key for _, key, *_ in commands}
        with translated():
            old: list[bytes] = sorted(self._client.scan_iter(f"{self._keys.vectors_of(scope)}*", count=1000))
        pairs = [key for place, written in temporary.items() for key in (written, place)]
        keys = (self._keys.fact_head(scope), *pairs, self._keys.fact_rows(scope), *(key.decode() for key in old))
        return bool(self._run("swap_key", keys, (log.head, str(version), len(temporary))))

    def tidy(self, scope: Scope) -> None:
        """Delete the temporary keys of rewrites: a process that still makes one starts again."""
        with translated():
            written = list(self._client.scan_iter(f"{self._keys.asides_of(scope)}*", count=1000))
            if written:
                self._client.unlink(*written)

    def _temporary_keys(
        self, scope: Scope, log: WholeLog, entries: Sequence[LogEntry], moves: _Moves
    ) -> dict[str, str]:
        """Return the temporary key for each part of the new log, by the key it will replace."""
        parts = [self._keys.fact_rows(scope)] if entries else []
        parts += dict.fromkeys(self._block(scope, to) for _, to in moves)
        token = token_hex(8)
        return {part: self._keys.aside(scope, log.head.decode(), token, str(at)) for at, part in enumerate(parts)}

    def _write(self, scope: Scope, log: WholeLog, commands: Sequence[_Command], begun: Collection[str]) -> bool:
        """Run *commands* if the log is still *log* and every key of *begun* still exists.

        Returns whether that was so. Thus a slow writer neither recreates keys after `tidy`, nor continues with keys
        that have expired.
        """
        head = self._keys.fact_head(scope)
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.watch(head, *begun)
            if (pipe.get(head) or b"") != log.head or (begun and pipe.exists(*begun) < len(begun)):
                return False
            pipe.multi()
            pipe.expire(self._keys.rewriting(scope), _HELD)
            for name, key, *arguments in commands:
                pipe.execute_command(name, key, *arguments)
                pipe.expire(key, _ASIDE)
            with suppress(redis.WatchError):
                pipe.execute()
                return True
        return False

    def _rows(
        self, scope: Scope, entries: Sequence[LogEntry], temporary: Mapping[str, str]
    ) -> Iterator[Sequence[_Command]]:
        for start in range(0, len(entries), _ROWS_AT_ONCE):
            batch = entries[start : start + _ROWS_AT_ONCE]
            yield [("RPUSH", temporary[self._keys.fact_rows(scope)], *(entry.encode() for entry in batch))]

    def _blocks(self, scope: Scope, moves: _Moves, temporary: Mapping[str, str]) -> Iterator[Sequence[_Command]]:
        for start in range(0, len(moves), _VECTORS_AT_ONCE):
            some = moves[start : start + _VECTORS_AT_ONCE]
            content = dict(zip((to for _, to in some), self._vectors(scope, [old for old, _ in some]), strict=True))
            written = ((run[0], b"".join(content[place] for place in run)) for run in runs(content))
            yield [("SETRANGE", temporary[self._block(scope, to)], to.offset, raw) for to, raw in written]

    def _vectors(self, scope: Scope, places: Sequence[VectorSlot]) -> Iterator[bytes]:
        batch = list(runs(places))
        with translated(), self._client.pipeline(transaction=False) as pipe:
            for run in batch:
                pipe.getrange(self._block(scope, run[0]), run[0].offset, run[-1].offset + run[-1].size - 1)
            stored: list[bytes] = pipe.execute()
        return divided(batch, stored)

    def _block(self, scope: Scope, place: VectorSlot) -> str:
        return self._keys.fact_vectors(scope, place.embedder, dim=place.slot.dim, block=place.block)
