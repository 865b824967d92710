"""What a bus on Redis waits for before it goes on."""

import time
from collections.abc import Sequence
from typing import Any

import redis
import structlog

from nous.bus.redis_errors import translated
from nous.errors import Misconfigured

_DISK_MS = 5000
_GLANCE = 0.02
"""Seconds between two looks at a key: one that is gone, or whose time is over, tells nobody."""

_LONGEST = 25.0
"""Seconds that a commit waits for others: longer than a key lives that nobody renews (see `RedisLogs.hold`)."""

_SILENT = 2.0
"""Seconds of waiting of which nothing is said: nearly all are over by then."""

log = structlog.get_logger(__name__)


def wait_for_disk(client: Any) -> None:
    """Return when what was written is on the server's disk. Raises `Misconfigured` where that does not say so."""
    with translated():
        try:
            on_disk, _ = client.execute_command("WAITAOF", 1, 0, _DISK_MS)
        except redis.ResponseError as error:
            raise Misconfigured(f"durable publishing needs Redis 7.2 or later with an AOF: {error}") from error
    if not on_disk:
        raise Misconfigured(f"the disk did not confirm within {_DISK_MS} ms; the events are in the stream")


def wait_for(keys: Sequence[str], client: Any, *, longest: float = _LONGEST, silent: float = _SILENT) -> None:
    """Return when none of *keys* is there any more, or after *longest*; after *silent*, say what is waited for."""
    began, is_silent = time.monotonic(), True
    with translated():
        while keys and client.exists(*keys) and (waited := time.monotonic() - began) < longest:
            if is_silent and waited >= silent:
                log.warning("waiting for somebody who is forgetting", keys=[*keys], at_most=longest)
                is_silent = False
            time.sleep(_GLANCE)
