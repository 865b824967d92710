"""Uploaded transcripts in Redis, one string each. Keys: `nous.store.keys`."""

from typing import cast

import redis

from nous.redis_support.errors import translated


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
