"""Measured deduplication thresholds of embedders, in Redis.

They are configuration, not memory, so the calibration writes them directly instead of through a commit.
"""

from collections.abc import Mapping
from typing import cast

import redis

from nous.redis_support.errors import translated
from nous.store.keys import StoreKeys


class RedisCalibrations:
    """`Calibrations` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client = client
        self._keys = keys

    def thresholds(self) -> Mapping[str, float]:
        with translated():
            stored = cast("dict[bytes, bytes]", self._client.hgetall(self._keys.calibrations))
        return {embedder.decode(): float(threshold) for embedder, threshold in stored.items() if threshold}

    def keep(self, embedder: str, threshold: float | None) -> None:
        """Set the threshold of *embedder*, or remove it; processes use it from their next start."""
        with translated():
            if threshold is None:
                self._client.hdel(self._keys.calibrations, embedder)
            else:
                self._client.hset(self._keys.calibrations, embedder, str(threshold))
