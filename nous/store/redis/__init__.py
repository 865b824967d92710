"""Base class of the Redis stores: send one command, translate the errors of redis-py."""

from typing import Any

import redis

from nous.redis_support.errors import translated
from nous.store.keys import StoreKeys


class StorePart:
    """A part of the store (keys: `nous/store/keys.md`). *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys

    def _ask(self, command: str, key: str, *arguments: str | bytes | float) -> Any:
        with translated():
            return self._client.execute_command(command, key, *arguments)
