"""Store and read, in Redis, uploaded transcripts and records of files in watched folders."""

from collections.abc import Collection, Mapping
from typing import cast
from uuid import UUID

import redis

from nous.bus.redis.keys import BusKeys
from nous.redis_support.errors import translated
from nous.redis_support.scripts import register
from nous.store.folder_state import FileRecord, WatchedFolder, digest_of, packed, unpacked
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart

KEPT = 30 * 86400  # TTL in seconds of a folder that is no longer swept, for example of a host that is gone


class RedisFolderState(StorePart):
    """`FolderState` on one Redis primary."""

    def __init__(self, client: redis.Redis, keys: StoreKeys, *, bus_keys: BusKeys) -> None:
        super().__init__(client, keys)
        self._bus_keys = bus_keys
        self._remember = register(client, "nous.store.redis", "remember")

    def recall(self, place: WatchedFolder) -> Mapping[str, FileRecord]:
        stored: dict[bytes, bytes] = self._ask("HGETALL", self._key(place))
        read = ((name.decode(), unpacked(raw)) for name, raw in stored.items())
        return {name: found for name, found in read if found}

    def remember(self, place: WatchedFolder, name: str, what: FileRecord, *, after: Collection[UUID] = ()) -> bool:
        markers = [self._bus_keys.marker(event_id) for event_id in after]
        with translated():
            return bool(self._remember(keys=[self._key(place), *markers], args=[name, packed(what), KEPT]))

    def keep(self, place: WatchedFolder, *, without: Collection[str] = ()) -> None:
        with translated(), self._client.pipeline(transaction=False) as both:  # the ACL for producers allows no MULTI
            if without:
                both.hdel(self._key(place), *without)
            both.expire(self._key(place), KEPT)
            both.execute()

    def _key(self, place: WatchedFolder) -> str:
        return self._keys.watched(place.scope, digest_of(place))


class RedisUploads:
    """`Uploads` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def put(self, key: str, packed: bytes) -> None:
        with translated():
            self._client.set(key, packed)

    def fetch(self, key: str) -> bytes | None:
        with translated():
            return cast("bytes | None", self._client.get(key))
