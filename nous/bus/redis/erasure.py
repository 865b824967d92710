"""Taking from Redis Streams what was forgotten. The keys are listed in `nous.bus.redis.keys`.

Redis only marks a deleted entry: its bytes stay, in memory, on disk and in every DUMP, as long as its neighbours do. So
a stream out of which something was deleted is copied, and the copy takes its place.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, groupby, starmap
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar
from uuid import UUID

import orjson
import redis
from pydantic import TypeAdapter

from nous.bus.accounting import Letter
from nous.bus.base import Lane
from nous.bus.dead_letter import accepted_at, read_letter
from nous.bus.erasure import Entry, Found, Said, Wanted, amended, said
from nous.bus.redis import entries as pages
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import Tombstone, mark_in
from nous.domain.errors import Retryable
from nous.domain.event_codec import is_of_none
from nous.domain.events import EpisodeSummarized, Event, kinds
from nous.domain.scope import Scope
from nous.facts.candidate_filter import Forgotten
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_PAGE = 500
_AT_ONCE = 100
_ATTEMPTS = 20
_ASIDE = 3600
_GLANCE = 0.05
"""Seconds between two looks at a server that writes its files; it tells nobody when it is through."""

_WRITING = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_PATIENCE = 60.0
"""Seconds for a server to write its files anew: gigabytes, at what an ordinary disk takes."""

T = TypeVar("T")
_Place = tuple[str, str, str]
"""The kind of an event, its lane and its entry."""


@dataclass(slots=True)
class _Letters:
    """The *ids* of letters about *entries*, each with a blank behind it, as far as letters were read: up to *last*."""

    entries: set[_Place]
    last: str = "0-0"
    ids: dict[_Place, str] = field(default_factory=lambda: defaultdict[_Place, str](str))

    def read(self, letters: Iterable[tuple[bytes, dict[bytes, bytes]]]) -> None:
        for letter_id, told in letters:
            self.last = letter_id.decode()
            kind, lane, entry = (told.get(name, b"").decode(errors="replace") for name in (b"kind", b"lane", b"entry"))
            if (place := (kind, lane, entry)) in self.entries:
                self.ids[place] += f"{self.last} "


class RedisBusErasure:
    """`BusErasure` over the keys of `RedisBus`. *marker_ttl* is the life of its markers in seconds."""

    def __init__(self, client: redis.Redis, keys: BusKeys | None = None, *, marker_ttl: int) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._run = Scripts(client, package="nous.bus.redis")
        self._keys = keys or BusKeys()
        self._marker_ttl = marker_ttl

    def find(self, wanted: Wanted) -> Found:
        entries: list[Entry] = []
        sessions: set[str] = set()
        others: set[UUID] = set()
        unreadable = 0
        for stream, kind, lane in self._streams():
            for entry_id, raw in pages.entries(self._client, stream):
                told = said(raw, kind, at=accepted_at(entry_id))
                if told is None or (told.scope is None and not wanted.takes(told)):
                    unreadable += 1
                elif wanted.is_of_another(told):
                    others.add(told.event_id)
                elif (left := _left(told, raw, kind, wanted, at=accepted_at(entry_id))) is not None:
                    entries.append(Entry(stream, kind, lane, entry_id, told.event_id, left))
                    sessions |= {told.session_id} if told.session_id else set()
        gone, strange = self._letters(entries, others, wanted)
        return Found(
            entries=tuple(entries),
            letters=gone,
            sessions=frozenset(sessions),
            others=frozenset(others),
            unreadable=unreadable + strange,
        )

    def erase(self, found: Found) -> Counter[str]:
        counts = Counter[str]()
        for some in _handfuls(found.letters):
            with translated():
                counts["dead letters"] += self._client.xdel(self._keys.letters, *some)
        about = _Letters({_place(each) for each in found.entries if each.amended})
        for (stream, lane), entries in groupby(found.entries, key=lambda entry: (entry.stream, entry.lane)):
            for some in _handfuls(tuple(entries)):
                if about.entries:
                    about.read(pages.whole_entries(self._client, self._keys.letters, after=f"({about.last}"))
                words = chain.from_iterable(
                    (each.id, str(each.event_id), each.amended, about.ids[_place(each)]) for each in some
                )
                arguments = (self._keys.prefix, lane.value, self._marker_ttl, about.last, *words)
                gone, deliveries = self._run("erase", (stream,), arguments)
                counts["stream entries"] += gone
                counts["deliveries"] += deliveries
        return counts

    def purge(self) -> int:
        streams = [(stream, lane) for stream, _, lane in self._streams()]
        return sum(self._purge(stream, lane) for stream, lane in [*streams, (self._keys.letters, Lane.LIVE)])

    def purge_files(self) -> bool:
        until = time.monotonic() + _PATIENCE
        with translated():
            try:
                # One that is being written was begun before the last was deleted, and would keep it.
                known = self._settled(until)
                if known["aof_enabled"]:
                    self._begin_file()
                    known = self._settled(until)
                if self._has_snapshot(known):
                    self._client.bgsave()
                    known = self._settled(until)
                is_new = not known["aof_enabled"] or known["aof_last_bgrewrite_status"] == "ok"
                return is_new and known["rdb_last_bgsave_status"] == "ok"
            except (redis.ResponseError, KeyError, TimeoutError):
                return False

    def _streams(self) -> Iterator[tuple[str, str, Lane]]:
        """Every stream of events, of kinds that this release does not know too: its key, kind and lane."""
        for lane in Lane:
            beginning = self._keys.stream("", lane)
            with translated():
                found: list[bytes] = sorted(self._client.scan_iter(f"{beginning}*", count=1000, _type="stream"))
            yield from ((key.decode(), key.decode().removeprefix(beginning), lane) for key in found)

    def _letters(self, entries: Iterable[Entry], others: Iterable[UUID], wanted: Wanted) -> tuple[tuple[str, ...], int]:
        """The ids of the letters that have to go (see `_goes`), and how many others cannot be read."""
        about = {_place(entry) for entry in entries if not entry.amended}
        of_others = {str(event_id) for event_id in others}
        gone: list[str] = []
        unreadable = 0
        for letter in starmap(read_letter, pages.whole_entries(self._client, self._keys.letters)):
            if _goes(letter, about, of_others, wanted):
                gone.append(letter.id)
            else:
                unreadable += not letter.is_readable
        return tuple(gone), unreadable

    def _purge(self, stream: str, lane: Lane) -> bool:
        """Write *stream* anew if anything was ever deleted from it; whether that was so."""
        for _ in range(_ATTEMPTS):
            with translated():
                self._drop_copies(stream)
                if not self._client.exists(stream):
                    return False
                known = self._client.xinfo_stream(stream)
            if known.get("max-deleted-entry-id", b"0-0") == b"0-0":
                return False
            if self._rewritten(stream, lane):
                return True
        raise Retryable(f"{stream} is deleted from all the time, and was not written anew; forget again")

    def _rewritten(self, stream: str, lane: Lane) -> bool:
        aside, after = self._keys.aside(stream, token_hex(8)), "-"
        while last := self._run("copy", (stream, aside), (after, _PAGE, _ASIDE)):
            after = f"({last.decode()}"
        return bool(self._run("exchange", (stream, aside), (after, self._keys.prefix, lane.value)))

    def _begin_file(self) -> None:
        try:
            self._client.bgrewriteaof()
        except redis.ResponseError as error:
            if "already in progress" not in str(error):  # somebody else began in between, which is as good
                raise

    def _has_snapshot(self, known: Mapping[str, Any]) -> bool:
        """Whether the server takes snapshots, has taken one since it began, or has an older one where we can look."""
        told = self._client.config_get("save", "dir", "dbfilename")
        try:
            return bool(told["save"] or known.get("rdb_saves") or Path(told["dir"], told["dbfilename"]).is_file())
        except PermissionError:  # it is on this machine, and there may be one
            return True

    def _settled(self, until: float) -> dict[str, Any]:
        """What the server says of its files once it is not writing one. Raises `TimeoutError`."""
        while any((known := self._client.info("persistence"))[each] for each in _WRITING):
            if time.monotonic() > until:
                raise TimeoutError
            time.sleep(_GLANCE)
        return known

    def _drop_copies(self, stream: str) -> None:
        """Drop the copies that others have begun: who was killed has left one, and who lives begins anew."""
        copies = list(self._client.scan_iter(self._keys.aside(stream, "*"), count=1000))
        if copies:
            self._client.unlink(*copies)


def _left(told: Said, raw: bytes, kind: str, wanted: Wanted, *, at: datetime) -> bytes | None:
    """What is left of an entry that has to go or to be amended; None if it stays as it is."""
    if wanted.takes(told):
        return b""
    if wanted.forms and kind == EpisodeSummarized.type and told.scope == wanted.scope:
        return amended(raw, wanted.forms, event_id=told.event_id, at=at)
    return None


def _goes(letter: Letter, about: Container[_Place], of_others: Container[str | None], wanted: Wanted) -> bool:
    """Whether a letter is *about* an entry of which nothing is left, or of the session that has none any more."""
    is_of_session = wanted.session_id is not None and letter.session_id == wanted.session_id
    is_of_session &= not is_of_none(letter.session_id, kinds().get(letter.kind, Event))
    is_left_over = is_of_session and letter.event_id not in of_others
    return is_left_over or (letter.kind, letter.lane, letter.entry) in about


def _place(entry: Entry) -> _Place:
    return entry.kind, entry.lane, entry.id


def _handfuls(all_: Sequence[T]) -> Iterator[Sequence[T]]:
    return (all_[start : start + _AT_ONCE] for start in range(0, len(all_), _AT_ONCE))


class RedisTombstones:
    """`Tombstones` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: BusKeys | None = None) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys or BusKeys()

    def put(self, scope: Scope, names: Iterable[str], tombstone: Tombstone) -> None:
        raw = orjson.dumps(tombstone, option=orjson.OPT_UTC_Z)
        with translated(), self._client.pipeline() as pipe:
            for name in names:
                pipe.hset(self._keys.forgotten(scope), name, raw)
            pipe.execute()

    def renew(self, scope: Scope, names: Iterable[str], tombstone: Tombstone) -> None:
        raw = orjson.dumps(tombstone, option=orjson.OPT_UTC_Z)
        with translated():
            self._client.transaction(partial(self._renew, scope, [*names], raw), self._keys.forgotten(scope))

    def _renew(self, scope: Scope, names: Sequence[str], raw: bytes, pipe: Any) -> None:
        standing = [name for name in names if pipe.hexists(self._keys.forgotten(scope), name)]
        pipe.multi()
        for name in standing:
            pipe.hset(self._keys.forgotten(scope), name, raw)

    def find(self, scope: Scope, name: str) -> Tombstone | None:
        with translated():
            raw: bytes | None = self._client.hget(self._keys.forgotten(scope), name)
        return None if raw is None else TypeAdapter(Tombstone).validate_json(raw)

    def lift(self, scope: Scope, name: str) -> bool:
        with translated():
            return bool(self._client.hdel(self._keys.forgotten(scope), name))

    def forms(self, scope: Scope) -> Forgotten:
        with translated():
            names: list[bytes] = self._client.hkeys(self._keys.forgotten(scope))
        return Forgotten(scope, frozenset(mark for name in names if (mark := mark_in(name.decode()))))
