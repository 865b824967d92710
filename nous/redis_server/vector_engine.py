"""Lazy client for the server of the vector index, which may be another one, or a cluster."""

from threading import Lock
from typing import Any, cast

import redis
from redis import exceptions

from nous.domain.errors import Fatal, Misconfigured, Unavailable
from nous.redis_server.client import SOCKET_TIMEOUT, address, connect, masked
from nous.redis_support.errors import translated
from nous.settings.model import Settings

_REMEDY = 'set index.url to a Redis of version 8 or later, or index.engine to "memory"'


class Engine:
    """Lazy client for the server that `index.url` names, by default the main server.

    It connects on first use.
    """

    def __init__(self, settings: Settings) -> None:
        own = settings.index.url
        self._settings = settings.model_copy(update={"redis_url": own}) if own else settings
        self._lock = Lock()
        self._client: redis.Redis | redis.RedisCluster | None = None

    def __call__(self) -> redis.Redis | redis.RedisCluster:
        """Return a client for idempotent commands.

        Replies are bytes. The client is thread-safe.

        Raises:
            Unavailable: the server does not answer.
            Misconfigured: it refuses us, or has no vector sets.
        """
        with self._lock:
            if self._client is None:
                self._client = self._connected()
            return self._client

    def close(self) -> None:
        """Close the connections that were opened."""
        if self._client:
            self._client.close()

    def _connected(self) -> redis.Redis | redis.RedisCluster:
        client = connect(self._settings)
        with translated():
            is_cluster = client.info("server").get("redis_mode") == "cluster"
        found = _cluster(self._settings.redis_url) if is_cluster else client
        try:
            with translated():
                cast("Any", found).execute_command("VCARD", f"{self._settings.prefix}:candidates")
        except Misconfigured:
            found.close()
            raise
        except Fatal as error:
            found.close()
            where = masked(address(self._settings))
            raise Misconfigured(f"the server at {where} has no vector sets ({error}): {_REMEDY}") from error
        return found


def _cluster(url: str) -> redis.RedisCluster:
    try:
        return redis.RedisCluster.from_url(
            url,
            protocol=2,
            decode_responses=False,
            socket_timeout=SOCKET_TIMEOUT,
            socket_connect_timeout=SOCKET_TIMEOUT,
        )
    except exceptions.RedisClusterException as error:
        raise Unavailable(f"the cluster at {masked(url)} does not answer: {error}") from error
