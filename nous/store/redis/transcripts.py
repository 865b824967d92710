"""Keep uploads, records of watched files, and the key and counts of redaction, in Redis."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import NamedTuple
from uuid import UUID

import orjson
import redis

from nous.bus.redis.keys import BusKeys
from nous.domain.errors import NotAllowed
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.redis_support.scripts import register
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart


class WatchedFolder(NamedTuple):
    """A folder on a host that is swept for sessions of a scope."""

    scope: Scope
    host: str
    folder: Path


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Outcome of the last processing of a file: published or refused.

    *size* is in bytes, *mtime_ns* in nanoseconds since the epoch.
    """

    size: int
    mtime_ns: int
    refused: bool = False


def name_of(path: Path) -> str:
    """Return the hash that stands for *path*, which may name a session that is erased later."""
    return _digest(os.fsencode(path))


def digest_of(place: WatchedFolder) -> str:
    """Return a hash that identifies *place* within its scope."""
    return _digest(f"{place.host}\n".encode() + os.fsencode(place.folder))


def packed(what: FileRecord) -> bytes:
    return orjson.dumps((what.size, what.mtime_ns, what.refused))


def unpacked(raw: bytes) -> FileRecord | None:
    """Decode what `packed` wrote; None for anything else, which then counts as not recorded."""
    try:
        size, mtime_ns, refused, *_ = orjson.loads(raw)  # earlier releases wrote more fields
    except (ValueError, TypeError):
        return None
    return FileRecord(size, mtime_ns, bool(refused))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


KEPT = 30 * 86400  # TTL in seconds of a folder that is no longer swept, for example of a host that is gone
_KEY_BYTES = 16


class RedisFolderState(StorePart):
    """Records of processed files, by folder and hashed file name (see `name_of`).

    This is a cache: without it every file is published again and deduplicated. Every method is idempotent, safe to call
    from concurrent sweeps, and raises `Unavailable` if the store does not answer.
    """

    def __init__(self, client: redis.Redis, keys: StoreKeys, *, bus_keys: BusKeys) -> None:
        super().__init__(client, keys)
        self._bus_keys = bus_keys
        self._remember = register(client, "nous.store.redis", "remember")

    def recall(self, place: WatchedFolder) -> Mapping[str, FileRecord]:
        stored: dict[bytes, bytes] = self._ask("HGETALL", self._key(place))
        read = ((name.decode(), unpacked(raw)) for name, raw in stored.items())
        return {name: found for name, found in read if found}

    def remember(self, place: WatchedFolder, name: str, what: FileRecord, *, after: Collection[UUID] = ()) -> bool:
        """Replace the record of the file *name* by *what*.

        Returns False and changes nothing if the server does not know every event in *after*: it has lost them. If the
        server loses one of these events later, it loses the record as well.
        """
        markers = [self._bus_keys.marker(event_id) for event_id in after]
        with translated():
            return bool(self._remember(keys=[self._key(place), *markers], args=[name, packed(what), KEPT]))

    def keep(self, place: WatchedFolder, *, without: Collection[str] = ()) -> None:
        """Extend the lifetime of the records of *place*, and delete those of the files *without*."""
        with translated(), self._client.pipeline(transaction=False) as both:  # the ACL for producers allows no MULTI
            if without:
                both.hdel(self._key(place), *without)
            both.expire(self._key(place), KEPT)
            both.execute()

    def _key(self, place: WatchedFolder) -> str:
        return self._keys.watched(place.scope, digest_of(place))


class RedisUploads(StorePart):
    """`Uploads` on one Redis primary."""

    def put(self, key: str, packed: bytes) -> None:
        self._ask("SET", key, packed)

    def fetch(self, key: str) -> bytes | None:
        return self._ask("GET", key)


class RedisRedactions(StorePart):
    """Key and counters of redaction. Users that may only publish need the rules of `deploy/acl`."""

    def key(self) -> bytes | None:
        """Return the key, made by the first who asks; None for a user that may not read it."""
        with suppress(NotAllowed):
            self._ask("SET", self._keys.redaction_key, token_bytes(_KEY_BYTES), "NX")
            return self._ask("GET", self._keys.redaction_key)
        return None

    def count(self, where: str, counts: Mapping[str, int]) -> None:
        """Add *counts* by rule. A count is no promise: one whose reply is lost may be added twice."""
        with suppress(NotAllowed), translated(), self._client.pipeline(transaction=False) as pipe:
            for rule, count in counts.items():
                pipe.hincrby(self._keys.redactions, f"{where}/{rule}", count)
            pipe.execute()

    def counts(self) -> Mapping[tuple[str, str], int]:
        stored: dict[bytes, bytes] = self._ask("HGETALL", self._keys.redactions)
        places = ((name.decode().partition("/"), int(count)) for name, count in stored.items())
        return {(where, rule): count for (where, _, rule), count in places}
