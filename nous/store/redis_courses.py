"""How far sessions have come, in Redis. How it is written stands in `nous.store.courses`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import redis

from nous.bus.redis_errors import translated
from nous.course import Course, Stage
from nous.scope import Scope
from nous.store.courses import unpacked
from nous.store.keys import StoreKeys, session_named


class RedisCourses:
    """`Courses` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys

    def course(self, scope: Scope, session_id: str) -> Course | None:
        """Raises `Misconfigured` where another release has written what this one cannot read."""
        with translated():
            stored: bytes | None = self._client.get(self._keys.course(scope, session_id))
        return None if stored is None else unpacked(stored)

    def sessions(
        self, stage: Stage, *, before: datetime | None = None, limit: int = 100, skip: int = 0
    ) -> Sequence[tuple[Scope, str]]:
        until = f"({before.timestamp()!r}" if before else "+inf"
        while True:
            with translated():
                names: list[bytes] = self._client.zrangebyscore(
                    self._keys.sessions_at(stage), "-inf", until, start=skip, num=limit
                )
            found = [place for name in names if (place := session_named(name))]
            if found or len(names) < max(limit, 1):
                return found
            # Of a page with nothing but names that others have written nobody may take that it is the end.
            skip += limit
