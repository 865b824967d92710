"""What a bus on Redis waits for before it goes on."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import redis
import structlog

from nous.bus.redis_errors import reason_of, translated
from nous.errors import Misconfigured, Unavailable

_DISK_MS = 5000
_GLANCE = 0.02
"""Seconds between two looks at a key: one that is gone, or whose time is over, tells nobody."""

_LONGEST = 25.0
"""Seconds that a commit waits for others: longer than a key lives that nobody renews (see `RedisLogs.hold`)."""

_SILENT = 2.0
"""Seconds of waiting of which nothing is said: nearly all are over by then."""

log = structlog.get_logger(__name__)


def wait_for_disk(client: Any, kept: Mapping[str, str]) -> None:
    """Return when all that was written is on the server's disk, among it the strings *kept*, by key.

    A server waits for what its caller has written over the same connection, and for nothing where that is new. So they
    are written once more, as they are, before it is asked; where one is gone, the server has lost what it had taken.

    Raises:
        Misconfigured: the server does not tell what is on its disk.
        Unavailable: it has lost some, or did not confirm in time; publishing again is safe.
    """
    with translated(), client.pipeline(transaction=False) as pipe:
        for key, value in kept.items():
            pipe.set(key, value, xx=True, keepttl=True)
        pipe.execute_command("WAITAOF", 1, 0, _DISK_MS)
        *are_there, confirmed = pipe.execute(raise_on_error=False)
        for refusal in (each for each in are_there if isinstance(each, Exception)):
            raise refusal
    if isinstance(confirmed, redis.ResponseError):
        raise Misconfigured(f"durable publishing needs Redis 7.2 or later with an AOF: {reason_of(confirmed)}")
    if not all(are_there):
        raise Unavailable("the server has lost what it had taken; publish it again")
    if not confirmed[0]:
        raise Unavailable(f"the disk did not confirm within {_DISK_MS} ms; publish again to be told that it has")


def wait_for(keys: Sequence[str], client: Any, *, longest: float = _LONGEST, silent: float = _SILENT) -> None:
    """Return when none of *keys* is there any more, or after *longest*; after *silent*, say what is waited for."""
    began, is_silent = time.monotonic(), True
    with translated():
        while keys and client.exists(*keys) and (waited := time.monotonic() - began) < longest:
            if is_silent and waited >= silent:
                log.warning("waiting for somebody who is forgetting", keys=[*keys], at_most=longest)
                is_silent = False
            time.sleep(_GLANCE)
