"""A fact log that is read as a whole and written anew, aside, and then put in its place in one step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, cast

import redis

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.errors import Misconfigured
from nous.fact import LogVersion, Row
from nous.learning.erasing import Erased
from nous.scope import Scope
from nous.store.blocks import Place, runs
from nous.store.erasure import NewLog, new_log
from nous.store.keys import StoreKeys
from nous.store.rows import LogEntry

_ASIDE = 3600
"""Seconds that a log lives which nobody puts in its place."""
_ROWS_AT_ONCE = 1000
_VECTORS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class WholeLog:
    """A log at *head*, as that is stored."""

    head: bytes
    entries: tuple[LogEntry, ...]
    rows: tuple[Row, ...]

    @property
    def version(self) -> LogVersion:
        return LogVersion.parse(self.head.decode()) if self.head else LogVersion()


class RedisLogs:
    """Fact logs on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys
        self._run = Scripts(client)
        self._read: tuple[Scope, WholeLog] | None = None

    def read(self, scope: Scope) -> WholeLog:
        """The log as it is now; one that was read last and has not changed since is not decoded again."""
        with translated():
            head: bytes = self._client.get(self._keys.fact_head(scope)) or b""
        if self._read is None or (self._read[0], self._read[1].head) != (scope, head):
            self._read = scope, self._decoded(scope)
        return self._read[1]

    def _decoded(self, scope: Scope) -> WholeLog:
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.get(self._keys.fact_head(scope))
            pipe.lrange(self._keys.fact_rows(scope), 0, -1)
            head, stored = cast("tuple[bytes | None, list[bytes]]", pipe.execute())
        n = LogVersion.parse(head.decode()).n if head else 0
        entries = tuple(LogEntry.decode(entry) for entry in stored[:n])
        if len(entries) < n:
            raise Misconfigured(f"the fact log of {scope} is damaged: it has fewer rows than its version says")
        return WholeLog(head or b"", entries, tuple(entry.row for entry in entries))

    def put(self, scope: Scope, log: WholeLog, erased: Erased) -> bool:
        """Put *erased*, which was made of *log*, in its place, unless that has grown; whether that was done."""
        new, name = new_log(log.entries, erased, after=log.version), token_hex(8)
        rows, blocks = self._keys.aside(name, "rows"), dict[str, str]()
        self._write_rows(rows, new)
        for start in range(0, len(new.moves), _VECTORS_AT_ONCE):
            self._move(scope, new.moves[start : start + _VECTORS_AT_ONCE], name, blocks)
        with translated():
            old: list[bytes] = sorted(self._client.scan_iter(f"{self._keys.vectors_of(scope)}*", count=1000))
        pairs = [key for block, aside in blocks.items() for key in (aside, block)]
        keys = (self._keys.fact_head(scope), self._keys.fact_rows(scope), rows, *pairs, *(key.decode() for key in old))
        if self._run("swap", keys, (log.head, str(new.version), len(blocks))):
            return True
        with translated():
            self._client.unlink(rows, *blocks.values())
        return False

    def _write_rows(self, key: str, new: NewLog) -> None:
        encoded = [entry.encode() for entry in new.entries]
        with translated():
            for start in range(0, len(encoded), _ROWS_AT_ONCE):
                self._client.rpush(key, *encoded[start : start + _ROWS_AT_ONCE])
                self._client.expire(key, _ASIDE)

    def _move(self, scope: Scope, moves: Sequence[tuple[Place, Place]], name: str, blocks: dict[str, str]) -> None:
        """Copy vectors to blocks aside, which are noted in *blocks* beside those whose place they will take."""
        content = dict(zip((new for _, new in moves), self._vectors(scope, [old for old, _ in moves]), strict=True))
        with translated(), self._client.pipeline(transaction=False) as pipe:
            for run in runs(content):
                block = self._block(scope, run[0])
                aside = blocks.setdefault(block, self._keys.aside(name, str(len(blocks))))
                pipe.setrange(aside, run[0].offset, b"".join(content[place] for place in run))
                pipe.expire(aside, _ASIDE)
            pipe.execute()

    def _vectors(self, scope: Scope, places: Sequence[Place]) -> Iterator[bytes]:
        batch = list(runs(places))
        with translated(), self._client.pipeline(transaction=False) as pipe:
            for run in batch:
                pipe.getrange(self._block(scope, run[0]), run[0].offset, run[-1].offset + run[-1].size - 1)
            stored: list[bytes] = pipe.execute()
        for run, raw in zip(batch, stored, strict=True):
            size = run[0].size
            yield from (raw[at * size : (at + 1) * size] for at in range(len(run)))

    def _block(self, scope: Scope, place: Place) -> str:
        return self._keys.fact_vectors(scope, place.embedder, dim=place.slot.dim, block=place.block)
