"""A fact log that is read as a whole and written anew, aside, and then put in its place in one step."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any, cast

import redis

from nous.domain.errors import Misconfigured
from nous.domain.fact import LogVersion, Row
from nous.domain.scope import Scope
from nous.facts.erase import Erased
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts
from nous.store.erasure import NewLog, new_log
from nous.store.fact_rows import LogEntry, Place, runs
from nous.store.keys import StoreKeys

_HELD = 20
"""Seconds that those who would append wait for somebody who died while he made the log anew; each step begins them."""
_ASIDE = 3600
"""Seconds that a log lives which nobody puts in its place."""
_ROWS_AT_ONCE = 1000
_VECTORS_AT_ONCE = 4096

_Command = tuple[Any, ...]
"""A command of Redis: its name, the key that it writes, and the rest."""


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
        self._run = Scripts(client, package="nous.bus.redis")
        self._read: tuple[Scope, WholeLog] | None = None

    def hold(self, scope: Scope) -> None:
        """Have those who would append to the log wait until `release`; who is about to may do so once more."""
        with translated():
            self._client.set(self._keys.rewriting(scope), "", ex=_HELD)

    def release(self, scope: Scope) -> None:
        with translated():
            self._client.delete(self._keys.rewriting(scope))

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
        new = new_log(log.entries, erased, after=log.version)
        asides = self._asides(scope, log, new)
        begun: set[str] = set()
        for commands in chain(self._rows(scope, new, asides), self._blocks(scope, new, asides)):
            if not self._write(scope, log, commands, begun):
                return False
            begun |= {key for _, key, *_ in commands}
        with translated():
            old: list[bytes] = sorted(self._client.scan_iter(f"{self._keys.vectors_of(scope)}*", count=1000))
        pairs = [key for place, written in asides.items() for key in (written, place)]
        keys = (self._keys.fact_head(scope), *pairs, self._keys.fact_rows(scope), *(key.decode() for key in old))
        return bool(self._run("swap", keys, (log.head, str(new.version), len(asides))))

    def tidy(self, scope: Scope) -> None:
        """Remove what was written aside of a log that has changed since: it will never take its place."""
        with translated():
            written: list[bytes] = list(self._client.scan_iter(f"{self._keys.asides_of(scope)}*", count=1000))
            # Asked after they were found, so that none is of a version that comes only now.
            head: bytes = self._client.get(self._keys.fact_head(scope)) or b""
            current = self._keys.asides_of(scope, head.decode()).encode()
            stale = [key for key in written if not key.startswith(current)]
            if stale:
                self._client.unlink(*stale)

    def _asides(self, scope: Scope, log: WholeLog, new: NewLog) -> dict[str, str]:
        """Where each part of *new* is written before it takes its place, by that place."""
        parts = [self._keys.fact_rows(scope)] if new.entries else []
        parts += dict.fromkeys(self._block(scope, to) for _, to in new.moves)
        token = token_hex(8)
        return {part: self._keys.aside(scope, log.head.decode(), token, str(at)) for at, part in enumerate(parts)}

    def _write(self, scope: Scope, log: WholeLog, commands: Sequence[_Command], begun: Collection[str]) -> bool:
        """Write aside as long as *log* is the one there is, and all of *begun* is still there; whether that is so.

        Once it is not, whoever was slow brings nothing back after `tidy`, and goes on with nothing that has expired.
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

    def _rows(self, scope: Scope, new: NewLog, asides: Mapping[str, str]) -> Iterator[Sequence[_Command]]:
        """What writes the rows aside, a batch after the other."""
        for start in range(0, len(new.entries), _ROWS_AT_ONCE):
            batch = new.entries[start : start + _ROWS_AT_ONCE]
            yield [("RPUSH", asides[self._keys.fact_rows(scope)], *(entry.encode() for entry in batch))]

    def _blocks(self, scope: Scope, new: NewLog, asides: Mapping[str, str]) -> Iterator[Sequence[_Command]]:
        """What copies the vectors, likewise."""
        for start in range(0, len(new.moves), _VECTORS_AT_ONCE):
            moves = new.moves[start : start + _VECTORS_AT_ONCE]
            content = dict(zip((to for _, to in moves), self._vectors(scope, [old for old, _ in moves]), strict=True))
            written = ((run[0], b"".join(content[place] for place in run)) for run in runs(content))
            yield [("SETRANGE", asides[self._block(scope, to)], to.offset, raw) for to, raw in written]

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
