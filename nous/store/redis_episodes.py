"""Episodes in Redis. How they are written stands in `nous.store.plans`."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import redis

from nous.bus.redis_errors import translated
from nous.episode import Episode
from nous.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.records import decode


class RedisEpisodes:
    """`Episodes` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client = client
        self._keys = keys

    def get(self, scope: Scope, episode_id: UUID) -> Episode | None:
        stored = self._ask("HGET", self._keys.episodes(scope), str(episode_id))
        return None if stored is None else decode(Episode, stored)

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        if limit < 1:
            return ()
        names = self._ask("ZRANGE", self._keys.episodes_by_end(scope), 0, limit - 1, "REV")
        stored = self._ask("HMGET", self._keys.episodes(scope), *names) if names else ()
        # What was erased between the two questions is None.
        return tuple(decode(Episode, episode) for episode in stored if episode is not None)

    def scopes(self) -> Sequence[Scope]:
        return sorted(Scope.parse(text.decode()) for text in self._ask("SMEMBERS", self._keys.scopes))

    def _ask(self, command: str, key: str, *arguments: str | bytes | int) -> Any:
        with translated():
            return self._client.execute_command(command, key, *arguments)
