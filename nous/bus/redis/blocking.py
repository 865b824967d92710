"""What a bus on Redis waits for before it goes on."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import redis
import structlog

from nous.domain.errors import Fatal, Misconfigured, Unavailable
from nous.domain.event_codec import LARGEST
from nous.redis_support.errors import reason_of, translated

_DISK_MS = 5000
_GLANCE = 0.02
"""Seconds between two looks at a key: one that is gone, or whose time is over, tells nobody."""

_GRACE = 5.0
"""Seconds that a server may take longer to say that nothing has come."""

_LARGEST_ENTRY = LARGEST + (1 << 16)
"""Bytes of an entry that is read; beside its event, one of ours has a field's name."""

_LONGEST = 25.0
"""Seconds that a commit waits for others: longer than a key lives that nobody renews (see `RedisLogs.hold`)."""

_PUT_OFF = 2.5
"""Seconds: a little more than those for which a server that syncs once a second leaves unwritten what it has taken."""

_LOST = "the server has lost what it had taken; publish it again"

_SILENT = 2.0
"""Seconds of waiting of which nothing is said: nearly all are over by then."""

log = structlog.get_logger(__name__)


def wait_for_write(client: Any, keys: Sequence[str]) -> None:
    """Return when the server has written to its log what it has taken, *keys* among it: its death cannot lose that.

    It nearly always has when it answers. But one that syncs its log once a second writes nothing while that takes, for
    up to two seconds, and answers all the same (`flushAppendOnlyFile` in Redis' aof.c). One that died meanwhile may
    have a successor that has nothing left to write: so each time *keys* are looked for as well, in the same breath.

    Raises:
        Unavailable: it did not answer, has lost what it had taken, or its disk takes nothing; publishing again is safe.
    """
    until = time.monotonic() + _PUT_OFF
    for pause in chain((0.001, 0.002, 0.005), repeat(_GLANCE)):
        try:
            # What comes before this question is written by now, or put off: it stands in the buffer.
            known, found = _written_and_found(client, keys)
        except Fatal:  # whoever may not ask, or finds nobody who knows, has what the server's answer was worth
            return
        if found < len(keys):
            raise Unavailable(_LOST)
        unwritten = known.get("aof_buffer_length", 0)
        if unwritten and known.get("aof_last_write_status", "ok") != "ok":
            raise Unavailable("Redis cannot write to its disk what it took: make room there, then publish it again")
        if not unwritten or time.monotonic() > until:
            return
        time.sleep(pause)  # a server tells nobody when it has written


def _written_and_found(client: Any, keys: Sequence[str]) -> tuple[Mapping[str, Any], int]:
    """How the writing of its log goes, and how many of *keys* there are: both of one and the same server."""
    with translated(), client.pipeline(transaction=False) as pipe:
        pipe.info("persistence")
        pipe.exists(*keys)
        return pipe.execute()


def wait_for_disk(client: Any, keys: Sequence[str], *, ttl: int) -> None:
    """Return when all that was written is on the server's disk, among it *keys*, which live for *ttl* seconds from now.

    A server waits for what its caller has written over the same connection, and for nothing where that is new. So they
    are given their time anew before it is asked, which it writes down even where it is the same; what they hold is left
    to whoever has changed it meanwhile. Where one is gone, the server has lost what it had taken.

    Raises:
        Misconfigured: the server does not tell what is on its disk.
        Unavailable: it has lost some, or did not confirm in time; publishing again is safe.
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
        raise Unavailable(f"the disk did not confirm within {_DISK_MS} ms; publish again to be told that it has")


def wait_for_entry(
    client: Any,
    read_up_to: Mapping[str, bytes],
    *,
    seconds: float,
    ahead: Callable[[Sequence[str], Sequence[bytes]], int],
) -> None:
    """Return when there may be more in a stream than it is *read up to*, by its name, or after *seconds*.

    A server tells that something has come by sending it, be it of any size. How large it is tells *ahead*, of these
    streams and those entries; what is larger than an event may be is left unread, and its connection is given up.
    """
    streams, entries = list(read_up_to), list(read_up_to.values())
    pool = client.connection_pool
    connection = pool.get_connection()
    try:
        block = max(int(seconds * 1000), 1)
        connection.send_command("XREAD", "COUNT", 1, "BLOCK", block, "STREAMS", *streams, *entries)
        if connection.can_read(timeout=seconds + _GRACE) and ahead(streams, entries) <= _LARGEST_ENTRY:
            connection.read_response()
        else:
            connection.disconnect()
    except (redis.ConnectionError, redis.TimeoutError):
        connection.disconnect()  # there may be something: whoever looks for it is told what is wrong
    except BaseException:
        connection.disconnect()  # whatever is still to be read must not be taken for somebody else's reply
        raise
    finally:
        pool.release(connection)


def wait_for(keys: Sequence[str], client: Any, *, longest: float = _LONGEST, silent: float = _SILENT) -> None:
    """Return when none of *keys* is there any more, or after *longest*; after *silent*, say what is waited for."""
    began, is_silent = time.monotonic(), True
    with translated():
        while keys and client.exists(*keys) and (waited := time.monotonic() - began) < longest:
            if is_silent and waited >= silent:
                log.warning("waiting for somebody who is forgetting", keys=[*keys], at_most=longest)
                is_silent = False
            time.sleep(_GLANCE)
