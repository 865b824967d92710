"""Wait on Redis for AOF writes and fsync, for new stream entries, or for keys to disappear."""

import time
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import redis

from nous.domain.errors import Fatal, Misconfigured, Unavailable
from nous.redis_support.errors import reason_of, translated

_DISK_MS = 5000
_POLL_INTERVAL = 0.02
"""Seconds between two polls: the server gives no notice when a key disappears or its time is over."""

_GRACE = 5.0  # extra seconds that a server may take to report that a blocking read has timed out

_LONGEST = 25.0
"""Maximum seconds that a commit waits for an erasure.

It is longer than the TTL of a key that is no longer renewed (see `RedisLogs.hold`).
"""

_PUT_OFF = 2.5  # seconds; a little more than a server that syncs once a second may defer a write
_LOST = "the server has lost what it had taken; publish it again"


def wait_for_write(client: Any, keys: Sequence[str]) -> None:
    """Wait until the server has written *keys* to its AOF, so that its crash cannot lose them.

    It nearly always has when it answers. But a server that syncs its AOF once a second writes nothing while a sync
    runs, for up to two seconds, and answers all the same (`flushAppendOnlyFile` in Redis' aof.c). One that crashed
    meanwhile may have a successor with nothing left to write: so each poll looks for *keys*, in the same pipeline.

    Raises `Unavailable` if it did not answer, lost them, or cannot write to its disk; publishing again is safe.
    """
    until = time.monotonic() + _PUT_OFF
    for pause in chain((0.001, 0.002, 0.005), repeat(_POLL_INTERVAL)):
        try:
            # Everything before this command is written by now, or deferred: then it is in the buffer.
            with translated(), client.pipeline(transaction=False) as pipe:
                pipe.info("persistence")
                pipe.exists(*keys)
                known, found = pipe.execute()
        except Fatal:  # INFO is forbidden or unsupported: the server's reply to the write has to do
            return
        if found < len(keys):
            raise Unavailable(_LOST)
        unwritten = known.get("aof_buffer_length", 0)
        if unwritten and known.get("aof_last_write_status", "ok") != "ok":
            raise Unavailable("Redis cannot write to its disk what it took: make room there, then publish it again")
        if not unwritten or time.monotonic() > until:
            return
        time.sleep(pause)  # the server gives no notice when it has written


def wait_for_disk(client: Any, keys: Sequence[str], *, ttl: int) -> None:
    """Wait until everything written so far, *keys* included, is on the server's disk (WAITAOF).

    *keys* live for *ttl* seconds from now. WAITAOF covers the writes of its own connection, and nothing if that is new.
    So their TTL is set again first, which the server logs even if it is the same. Raises `Misconfigured` if the server
    cannot report what is on its disk. Raises `Unavailable` if it has lost one of *keys*, or did not confirm in time;
    publishing again is safe.
    """
    with translated(), client.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.expire(key, ttl)
        pipe.execute_command("WAITAOF", 1, 0, _DISK_MS)
        *are_there, confirmed = pipe.execute(raise_on_error=False)
        for refusal in (each for each in are_there if isinstance(each, Exception)):
            raise refusal
    if isinstance(confirmed, redis.ResponseError):
        raise Misconfigured(f"durable publishing needs Redis 7.2 or later with an AOF: {reason_of(confirmed)}")
    if not all(are_there):
        raise Unavailable(_LOST)
    if not confirmed[0]:
        raise Unavailable(f"the disk did not confirm within {_DISK_MS} ms; publish again to have it confirmed")


def wait_for_entry(client: Any, read_up_to: Mapping[str, bytes], *, seconds: float) -> None:
    """Wait until a stream may have entries after those in *read_up_to*, for at most *seconds*.

    *read_up_to* maps each stream to the last entry read. The server signals a new entry by sending it, and it may be of
    any size. So the reply stays unread, and the connection is closed.
    """
    pool = client.connection_pool
    connection = pool.get_connection()
    try:
        block = max(int(seconds * 1000), 1)
        connection.send_command("XREAD", "COUNT", 1, "BLOCK", block, "STREAMS", *read_up_to, *read_up_to.values())
        connection.can_read(timeout=seconds + _GRACE)
    except (redis.ConnectionError, redis.TimeoutError):
        pass  # there may be something: the read that follows reports the error
    finally:
        connection.disconnect()
        pool.release(connection)


def wait_for(keys: Sequence[str], client: Any, *, longest: float = _LONGEST) -> None:
    """Wait until none of *keys* exists, for at most *longest* seconds."""
    until = time.monotonic() + longest
    with translated():
        while keys and client.exists(*keys) and time.monotonic() < until:
            time.sleep(_POLL_INTERVAL)
