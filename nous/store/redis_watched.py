"""What was seen on disk, in Redis: a hash for each place. The keys stand in `nous.store.keys`."""

from collections.abc import Collection, Mapping
from typing import cast

import redis

from nous.bus.redis_errors import translated
from nous.store.keys import StoreKeys
from nous.store.watched import Place, Remembered, digest_of, packed, unpacked

KEPT = 30 * 86400
"""Seconds that a place is remembered in which nobody looks any more, a host that is gone, say."""


class RedisWatched:
    """`Watched` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client = client
        self._keys = keys

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        with translated():
            stored = cast("dict[bytes, bytes]", self._client.hgetall(self._key(place)))
        read = ((name.decode(), unpacked(raw)) for name, raw in stored.items())
        return {name: found for name, found in read if found}

    def remember(self, place: Place, name: str, what: Remembered) -> None:
        with translated(), self._client.pipeline() as both:
            both.hset(self._key(place), name, packed(what))
            both.expire(self._key(place), KEPT)
            both.execute()

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        with translated(), self._client.pipeline() as both:
            if without:
                both.hdel(self._key(place), *without)
            both.expire(self._key(place), KEPT)
            both.execute()

    def _key(self, place: Place) -> str:
        return self._keys.watched(place.scope, digest_of(place))
