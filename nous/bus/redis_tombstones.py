"""Tombstones in Redis, a hash for each scope. Its name stands in `nous.bus.keys`."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import orjson
import redis
from pydantic import TypeAdapter

from nous.bus.keys import BusKeys
from nous.bus.redis_errors import translated
from nous.bus.tombstones import Tombstone, mark_in
from nous.learning.forgotten import Forgotten
from nous.scope import Scope


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
