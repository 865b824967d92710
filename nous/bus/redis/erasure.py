"""Find and erase stream entries and dead letters in Redis, also on disk; store tombstones.

Redis only marks a deleted entry: its bytes stay in memory, on disk and in every DUMP as long as its neighbours do. So a
stream with deletions is copied, and the copy replaces it. The keys are listed in `nous/bus/redis/keys.md`.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Any, TypeVar

import redis

from nous.bus.base import Priority
from nous.bus.dead_letter import accepted_at
from nous.bus.erasure import (
    EntryHead,
    ErasableEntry,
    ErasureMatches,
    ErasureTarget,
    Tombstone,
    alias_name,
    amended,
    mark_in,
    said,
    session_name,
)
from nous.bus.redis import streams as pages
from nous.bus.redis.streams import RedisPart
from nous.domain.errors import Retryable
from nous.domain.event_codec import is_of_none
from nous.domain.events import EpisodeSummarized, Event, kinds
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import SuppressedTexts
from nous.redis_support.errors import translated

_PAGE = 500
_AT_ONCE = 100
_ATTEMPTS = 20
_ASIDE = 3600
# Seconds between two polls of a server that rewrites its files: it gives no notice when it has finished.
_POLL_INTERVAL = 0.05
_WRITING = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_FILE_TIMEOUT = 60.0
"""Timeout in seconds for a server to rewrite its files: gigabytes, at the speed of an ordinary disk."""

T = TypeVar("T")


class RedisBusErasure(RedisPart):
    """Erases entries and dead letters, and their bytes. Idempotent. Raises `Unavailable`."""

    def find(self, wanted: ErasureTarget) -> ErasureMatches:
        """Scan every stream and return what has to be erased."""
        found = ErasureMatches()
        for stream, kind, priority in self._streams():
            for entry_id, raw in pages.entries(self._client, stream):
                head = said(raw, kind, at=accepted_at(entry_id))
                if head and head.scope == wanted.scope:
                    found.note(head)
                if head is None or (head.scope is None and not wanted.takes(head)):
                    found.unreadable += 1
                elif wanted.names(head.session_id, head.kind) and not wanted.takes(head):  # a namesake in another scope
                    found.others.add(head.event_id)
                elif (left := _left(head, raw, kind, wanted)) is not None:
                    found.entries.append(ErasableEntry(stream, kind, priority, entry_id, head.event_id, left))
                    found.sessions |= {head.session_id} if head.session_id else set()
        found.letters.extend(self._letters(found, wanted))
        return found

    def erase(self, found: ErasureMatches) -> Counter[str]:
        """Delete the entries and dead letters, replace the amended ones, and count them.

        A worker that runs a delivery of a deleted entry can no longer commit it. Each group that had not finished with
        the entry counts it as erased.
        """
        counts = Counter[str]()
        for some in _batches(found.letters):
            with translated():
                counts["dead letters"] += self._client.xdel(self._keys.letters, *some)
        for (stream, priority), entries in groupby(found.entries, key=lambda entry: (entry.stream, entry.priority)):
            all_ = tuple(entries)
            for some in _batches([each for each in all_ if not each.amended]):
                fields = chain.from_iterable((each.id, str(each.event_id)) for each in some)
                gone, deliveries = self._run("erase", (stream,), (self._keys.prefix, priority.value, *fields))
                counts["stream entries"] += gone
                counts["deliveries"] += deliveries
            for some in _batches([each for each in all_ if each.amended]):
                counts["stream entries"] += self._amend(stream, priority, {each.id: each.amended for each in some})
        return counts

    def purge(self) -> int:
        """Rewrite the streams that still hold bytes that `erase` deleted; return how many."""
        streams = [(stream, priority) for stream, _, priority in self._streams()]
        return sum(
            self._purge(stream, priority) for stream, priority in [*streams, (self._keys.letters, Priority.LIVE)]
        )

    def purge_files(self) -> bool:
        """Make the server rewrite its files that still hold deleted data, and wait for it.

        Call it last. Returns false if the server does not allow it or takes too long: then it is left to the operator.
        """
        until = time.monotonic() + _FILE_TIMEOUT
        with translated():
            try:
                # A file that is being written now was begun before the last deletion, and would keep the deleted data.
                known = self._settled(until)
                if known["aof_enabled"]:
                    self._client.bgrewriteaof()
                    known = self._settled(until)
                if self._has_snapshot(known):
                    self._client.bgsave()
                    known = self._settled(until)
                is_new = not known["aof_enabled"] or known["aof_last_bgrewrite_status"] == "ok"
                return is_new and known["rdb_last_bgsave_status"] == "ok"
            except (redis.ResponseError, KeyError, TimeoutError):
                return False

    def _streams(self) -> Iterator[tuple[str, str, Priority]]:
        """Yield key, type and priority of every event stream, also of types unknown here."""
        for priority in Priority:
            beginning = self._keys.stream("", priority)
            with translated():
                found: list[bytes] = sorted(self._client.scan_iter(f"{beginning}*", count=1000, _type="stream"))
            yield from ((key.decode(), key.decode().removeprefix(beginning), priority) for key in found)

    def _letters(self, found: ErasureMatches, wanted: ErasureTarget) -> Iterator[str]:
        """Yield the dead letters of erased entries and of the session, but not of other scopes."""
        about = {(entry.kind, entry.priority, entry.id) for entry in found.entries if not entry.amended}
        of_others = {str(event_id) for event_id in found.others}
        for letter_id, fields in pages.whole_entries(self._client, self._keys.letters):
            told = {name.decode(errors="replace"): value.decode(errors="replace") for name, value in fields.items()}
            kind, session = told.get("kind", ""), told.get("session_id")
            is_of_session = wanted.names(session, kind)
            is_of_session &= not is_of_none(session, kinds().get(kind, Event))
            is_about = (kind, told.get("lane", ""), told.get("entry", "")) in about
            if is_about or (is_of_session and told.get("event_id") not in of_others):
                yield letter_id.decode()

    def _amend(self, stream: str, priority: Priority, amended: Mapping[str, bytes]) -> int:
        """Replace the events of entries, and return how many there were.

        The entries keep their ids: to every group they are what they were, done, dead, pending or unread. The effects
        of a delivery that was read before are checked for the erased texts when they are committed.
        """
        for _ in range(_ATTEMPTS):
            if all(self._is_amended(stream, entry, event) for entry, event in amended.items()):
                return len(amended)
            self._run("record_deletion", (stream,), ())
            self._purge(stream, priority, amended)
        raise _too_busy(stream)

    def _is_amended(self, stream: str, entry: str, event: bytes) -> bool:
        with translated():
            found = self._client.xrange(stream, entry, entry)
        return not found or found[0][1].get(b"event") == event

    def _purge(self, stream: str, priority: Priority, amended: Mapping[str, bytes] = MappingProxyType({})) -> bool:
        """Rewrite *stream* if anything was ever deleted from it; return whether it was."""
        for attempt in range(_ATTEMPTS):
            with translated():
                # A process that still makes a copy starts again.
                if copies := list(self._client.scan_iter(self._keys.aside(stream, "*"), count=1000)):
                    self._client.unlink(*copies)
                known = self._client.xinfo_stream(stream) if self._client.exists(stream) else {}
            last_deleted: bytes = known.get("max-deleted-entry-id", b"0-0")
            if last_deleted == b"0-0":
                return attempt > 0
            aside, after = self._keys.aside(stream, token_hex(8)), "-"
            replaced = chain.from_iterable(amended.items())
            how = (_PAGE, _ASIDE, *replaced)
            while last := self._run("copy_stream", (stream, aside), (after, *how)):
                after = f"({last.decode()}"
            self._run("rewrite_entry", (stream, aside), (after, self._keys.prefix, priority.value, last_deleted))
        raise _too_busy(stream)

    def _has_snapshot(self, known: Mapping[str, Any]) -> bool:
        """Return whether there may be a snapshot: configured, taken since the start, or in sight."""
        config = self._client.config_get("save", "dir", "dbfilename")
        try:
            return bool(config["save"] or known.get("rdb_saves") or Path(config["dir"], config["dbfilename"]).is_file())
        except PermissionError:  # the folder is on this machine, and may hold one
            return True

    def _settled(self, until: float) -> dict[str, Any]:
        """Wait until the server writes no file; return its state. Raises `TimeoutError` at *until*."""
        while any((known := self._client.info("persistence"))[each] for each in _WRITING):
            if time.monotonic() > until:
                raise TimeoutError
            time.sleep(_POLL_INTERVAL)
        return known


def _left(head: EntryHead, raw: bytes, kind: str, wanted: ErasureTarget) -> bytes | None:
    """Return what is left of an entry: None if it stays as it is, empty if all of it goes."""
    if wanted.takes(head):
        return b""
    if wanted.forms and kind == EpisodeSummarized.type and head.scope == wanted.scope:
        return amended(raw, wanted.forms, event_id=head.event_id)
    return None


def _too_busy(stream: str) -> Retryable:
    return Retryable(f"entries of {stream} are deleted all the time, so it was not rewritten; run the erasure again")


def _batches(all_: Sequence[T]) -> Iterator[Sequence[T]]:
    return (all_[start : start + _AT_ONCE] for start in range(0, len(all_), _AT_ONCE))


class RedisTombstones(RedisPart):
    """Tombstones per scope, by a name from `nous.bus.erasure`. They do not expire."""

    def put(self, scope: Scope, names: Iterable[str], tombstone: Tombstone) -> None:
        raw = encode(tombstone)
        with translated(), self._client.pipeline() as pipe:
            for name in names:
                pipe.hset(self._keys.forgotten(scope), name, raw)
            pipe.execute()

    def replace(self, scope: Scope, name: str, before: Tombstone, after: Tombstone) -> None:
        """Replace the tombstone *before*, if it was neither lifted nor replaced meanwhile."""
        self._run("replace_key", (self._keys.forgotten(scope),), (name, encode(before), encode(after)))

    def find(self, scope: Scope, name: str) -> Tombstone | None:
        with translated():
            raw: bytes | None = self._client.hget(self._keys.forgotten(scope), name)
        return None if raw is None else decode(Tombstone, raw)

    def lift(self, scope: Scope, name: str) -> bool:
        """Remove a tombstone, and those of its aliases; false if there was none."""
        stone = self.find(scope, name)
        aliases = (session_name(scope, each) for each in (stone.aliases if stone else ()))
        names = [name, *map(alias_name, (name, *aliases))]
        with translated():
            return bool(self._client.hdel(self._keys.forgotten(scope), *names))

    def forms(self, scope: Scope) -> SuppressedTexts:
        """Return the texts that must not be learned again in *scope*."""
        with translated():
            names: list[bytes] = self._client.hkeys(self._keys.forgotten(scope))
        return SuppressedTexts(scope, frozenset(mark for name in names if (mark := mark_in(name.decode()))))
