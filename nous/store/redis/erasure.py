"""Erase data of a session or scope, candidate facts, and rows of fact logs in Redis.

A fact log is replaced as a whole: written to temporary keys, then swapped atomically.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

import redis

from nous.domain.episode import Episode, episode_id
from nous.domain.errors import Retryable
from nous.domain.fact import LogVersion, Row, embedding, occurrences
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED
from nous.knowledge.candidate_filter import without_candidates
from nous.knowledge.erase import Erased
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts
from nous.store.fact_rows import LogEntry, Slot, VectorSlot, chained, divided, runs
from nous.store.keys import StoreKeys, anchor_name, member_name
from nous.store.redis import StorePart
from nous.store.redis.fact_log import RedisFactLog
from nous.store.transcript_source import compacting_name

_ATTEMPTS = 20
_NOT_REMOVED = frozenset({"forgotten", "aside", "rewriting"})
"""Tombstones stay. `RedisLogs` removes its own keys: its temporary ones, once their log is gone, and its lock."""
_SIZES = {b"hash": "HLEN", b"list": "LLEN", b"zset": "ZCARD", b"set": "SCARD"}
_MEMBERS = {b"hash": ("HEXISTS", "HDEL"), b"zset": ("ZSCORE", "ZREM"), b"set": ("SISMEMBER", "SREM")}


class Trace(NamedTuple):
    """Members of a key to remove (None: the key itself), counted under the name *what*."""

    what: str
    key: str
    members: tuple[str, ...] | None = None


Rewrite = Callable[[Sequence[Row]], Erased]


class RedisErasure(StorePart):
    """Removes stored data on one Redis primary; returns the number of removed items by store.

    With *dry_run* nothing is removed, only counted. Every method is idempotent and can be repeated after a failure; it
    then finds less to do. Each raises `Unavailable` if the store does not answer.
    """

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        super().__init__(client, keys)
        self._run = Scripts(client, package="nous.bus.redis")
        self._logs = RedisLogs(client, keys)

    def episodes(self, scope: Scope) -> frozenset[UUID]:
        """Return the episode ids of all sessions that left data in *scope*."""
        with translated():
            named = self._client.hkeys(self._keys.episodes(scope)) + self._client.hkeys(
                self._keys.summary_inputs(scope)
            )
            anchored = self._client.hkeys(self._keys.anchors(scope))
        sessions = {unquote(name.decode().partition("/")[2]) for name in anchored}
        sessions |= {unquote(key.rpartition(":")[2]) for key in self._named(scope, "courses")}
        sessions |= {each.source.session_id for each in occurrences(self.rows(scope))}
        decided = (key.rpartition(":")[2] for key in self._named(scope, "decisions"))
        return frozenset(
            (
                *(UUID(name.decode()) for name in named),
                *map(UUID, decided),
                *(episode_id(scope, session) for session in sessions),
            )
        )

    def rows(self, scope: Scope) -> Sequence[Row]:
        return self._logs.read(scope).rows

    def session(self, scope: Scope, session_id: str, *, dry_run: bool = False) -> Counter[str]:
        """Remove everything stored for a session, except rows of the fact log."""
        return self._remove(self._traces(scope, session_id), dry_run=dry_run)

    def candidates(self, scope: Scope, forms: Collection[str], *, dry_run: bool = False) -> Counter[str]:
        """Remove candidate facts with one of *forms* from every edition of every episode."""
        keys = (self._keys.episodes(scope), self._keys.episode_editions(scope))
        return Counter({"candidate facts": sum(self._without(key, forms, dry_run=dry_run) for key in keys)})

    def everything(self, scope: Scope, *, dry_run: bool = False) -> Counter[str]:
        """Remove everything stored for *scope*, including its fact log."""
        found = (Trace(what.replace("-", " "), key) for key, what in self._all(scope))
        members = member_name(scope, "") + "*"
        unrefined = Trace("index entries", *self._matching(self._keys.unrefined, members))
        listed = self._listed(members)
        known = Trace("index entries", self._keys.scopes, (str(scope),))
        counts = self._remove((*found, unrefined, *listed, known), dry_run=dry_run)
        if not dry_run:
            self._logs.tidy(scope)
        return counts

    def rewrite(self, scope: Scope, rewrite: Rewrite) -> Erased:
        """Replace the fact log of *scope* by what *rewrite* makes of it, under a new epoch.

        A writer that has read the old log gets a conflict when it appends. It then reads the new log from its
        beginning. Raises `Retryable` if others kept appending to the log.
        """
        try:
            for _ in range(_ATTEMPTS):
                # Renewed at each step: a step may outlast the lock, and a concurrent erasure may have released it.
                self._logs.hold(scope)
                log = self._logs.read(scope)
                self._logs.hold(scope)
                erased = rewrite(log.rows)
                self._logs.hold(scope)
                if not erased.has_changed or self._logs.put(scope, log, erased):
                    self._logs.tidy(scope)
                    return erased
        finally:
            self._logs.release(scope)
        raise Retryable(f"others keep appending to the fact log of {scope}: it was not rewritten; erase again")

    def _traces(self, scope: Scope, session_id: str) -> Iterator[Trace]:
        """Yield everything stored for a session, except rows of the fact log."""
        keys, episode = self._keys, episode_id(scope, session_id)
        name, anchored = str(episode), f"*{anchor_name('', session_id)}"
        yield Trace("episodes", keys.episodes(scope), (name,))
        yield Trace("earlier editions", *self._matching(keys.episode_editions(scope), f"{name}/*"))
        yield Trace("briefs", keys.summary_inputs(scope), (name,))
        yield Trace("decisions", keys.decisions(scope, episode))
        yield Trace("courses", keys.session_state(scope, session_id))
        yield Trace("anchored summaries", *self._matching(keys.anchors(scope), anchored))
        for key in self._named(scope, "episode-vectors"):
            yield Trace("episode vectors", key, (name,))
        for key in self._named(scope, "episode-vector-states"):
            yield Trace("index entries", key, (name,))
        for uploaded in (session_id, compacting_name(session_id)):
            for key in self._scan(keys.transcript(scope, uploaded, digest="*")):
                yield Trace("uploaded transcripts", key)
        yield Trace("index entries", keys.episode_versions(scope), (name,))
        yield Trace("index entries", keys.episodes_by_end(scope), (name,))
        yield from self._listed(member_name(scope, session_id))
        yield Trace("index entries", keys.unrefined, (member_name(scope, episode),))
        yield Trace("index entries", *self._matching(keys.anchor_states(scope), anchored))

    def _remove(self, traces: Iterable[Trace], *, dry_run: bool) -> Counter[str]:
        counts = Counter[str]()
        for what, key, members in traces:
            with translated():
                kind: bytes = self._client.type(key)
                if members and kind in _MEMBERS:
                    asks, removes = _MEMBERS[kind]
                    found = [each for each in members if self._ask(asks, key, each) not in {None, 0}]
                    counts[what] += len(found)
                    if found and not dry_run:
                        self._ask(removes, key, *found)
                elif members is None and kind != b"none":
                    counts[what] += self._ask(_SIZES[kind], key) if kind in _SIZES else 1
                    if not dry_run:
                        self._client.unlink(key)
        return +counts

    def _without(self, key: str, forms: Collection[str], *, dry_run: bool) -> int:
        gone = 0
        with translated():
            for name, raw in self._client.hscan_iter(key, count=100):
                gone += self._without_in(key, name, raw, forms, dry_run=dry_run)
        return gone

    def _without_in(self, key: str, name: bytes, raw: bytes | None, forms: Collection[str], *, dry_run: bool) -> int:
        while raw is not None:
            episode = decode(Episode, raw)
            left = without_candidates(episode, forms)
            gone = len(episode.candidate_facts) - len(left.candidate_facts)
            if not gone or dry_run or self._run("replace_key", (key,), (name, raw, encode(left))):
                return gone
            raw = self._client.hget(key, name)
        return 0

    def _matching(self, key: str, pattern: str) -> tuple[str, tuple[str, ...]]:
        with translated():
            return key, tuple(name.decode() for name, _ in self._client.hscan_iter(key, match=pattern, count=1000))

    def _listed(self, pattern: str) -> Iterator[Trace]:
        """Yield the matching sessions in each of the sets that list sessions by status."""
        for key in map(self._keys.sessions_at, UNFINISHED):
            with translated():
                names = tuple(name.decode() for name, _ in self._client.zscan_iter(key, match=pattern, count=1000))
            yield Trace("index entries", key, names)

    def _all(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield every key of *scope*, of any owner, with its kind; except those in `_NOT_REMOVED`."""
        for key in self._scan(f"{self._keys.prefix}:*"):
            what = self._keys.of_scope(key, scope)
            if what and what not in _NOT_REMOVED:
                yield key, what

    def _named(self, scope: Scope, what: str) -> Iterator[str]:
        return (key for key, named in self._all(scope) if named == what)

    def _scan(self, pattern: str) -> Iterator[str]:
        with translated():
            yield from sorted({key.decode() for key in self._client.scan_iter(pattern, count=1000)})


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
