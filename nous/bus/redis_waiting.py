"""What a bus on Redis waits for before it goes on."""

import time
from collections.abc import Sequence
from typing import Any

import redis

from nous.bus.redis_errors import translated
from nous.errors import Misconfigured

_DISK_MS = 5000
_GLANCE = 0.02
"""Seconds between two looks at a key."""


def wait_for_disk(client: Any) -> None:
    """Return when what was written is on the server's disk. Raises `Misconfigured` where that does not say so."""
    with translated():
        try:
            on_disk, _ = client.execute_command("WAITAOF", 1, 0, _DISK_MS)
        except redis.ResponseError as error:
            raise Misconfigured(f"durable publishing needs Redis 7.2 or later with an AOF: {error}") from error
    if not on_disk:
        raise Misconfigured(f"the disk did not confirm within {_DISK_MS} ms; the events are in the stream")


def wait_for(keys: Sequence[str], client: Any) -> None:
    """Return when none of *keys*, each of which has a TTL, is there any more."""
    with translated():
        while keys and client.exists(*keys):
            time.sleep(_GLANCE)
