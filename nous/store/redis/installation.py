"""Keep the key and counts of redaction, and the thresholds of embedders, in Redis."""

from collections.abc import Mapping
from contextlib import suppress
from secrets import token_bytes

from nous.domain.errors import NotAllowed
from nous.redis_support.errors import translated
from nous.store.redis import StorePart

_KEY_BYTES = 16


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
        """Return the counts by place and rule."""
        stored: dict[bytes, bytes] = self._ask("HGETALL", self._keys.redactions)
        places = ((name.decode().partition("/"), int(count)) for name, count in stored.items())
        return {(where, rule): count for (where, _, rule), count in places}


class RedisCalibrations(StorePart):
    """Measured thresholds of embedders: configuration, so written without a commit."""

    def thresholds(self) -> Mapping[str, float]:
        """Return the calibrated cosine by embedder, from which on texts may differ in words."""
        stored: dict[bytes, bytes] = self._ask("HGETALL", self._keys.calibrations)
        return {embedder.decode(): float(threshold) for embedder, threshold in stored.items() if threshold}

    def keep(self, embedder: str, threshold: float | None) -> None:
        """Set the threshold of *embedder*, or remove it; processes use it from their next start."""
        if threshold is None:
            self._ask("HDEL", self._keys.calibrations, embedder)
        else:
            self._ask("HSET", self._keys.calibrations, embedder, str(threshold))
