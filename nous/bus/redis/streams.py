"""Read Redis Streams by page, create missing consumer groups, trim old entries, wait.

Streams are read with plain commands, for users who may only read. A group starts at id 0, so it gets all events that
are not trimmed yet, however late it is created. Clients must not decode responses.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import redis

from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import order
from nous.bus.redis.keys import BusKeys
from nous.domain.errors import Fatal, Misconfigured, Unavailable
from nous.domain.event_codec import LARGEST
from nous.domain.events import Event
from nous.redis_support.errors import reason_of, translated
from nous.redis_support.scripts import Scripts

WEEK = 7 * 24 * 3600
_PAGE = 500
_ENOUGH = 1 << 24
"""Maximum bytes per page, if its entries are no larger than those before: foreign ones have any size."""


class RedisPart:
    """A part of the bus on one Redis primary. The keys are listed in `nous/bus/redis/keys.md`.

    *subscriptions* are groups to create before their workers start. *marker_ttl* is the life of idempotency keys, and
    of the reasons for skipping an event, in seconds. *clock* replaces the server's time (seconds since the epoch), for
    tests.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: BusKeys | None = None,
        *,
        subscriptions: Sequence[Subscription] = (),
        marker_ttl: int = WEEK,
        clock: Callable[[], float] | None = None,
    ) -> None:
        # redis-py types its replies for sync and async clients and both protocols at once; they are narrowed where they
        # enter.
        self._client: Any = client
        self._keys = keys or BusKeys()
        self._subscriptions = subscriptions
        self._marker_ttl = marker_ttl
        self._known_groups: set[tuple[str, str]] = set()
        self._run = Scripts(client, clock, package="nous.bus.redis")

    def _stream(self, ref: DeliveryRef) -> str:
        return self._keys.stream(ref.subscription.kind.type, ref.priority)

    def _ensure_subscribers(self, stream: str, kind: type[Event]) -> None:
        for subscription in self._subscriptions:
            if subscription.kind.type == kind.type:
                self._ensure_group(stream, subscription.group)

    def _ensure_group(self, stream: str, group: str) -> None:
        if (stream, group) in self._known_groups:
            return
        with translated():
            try:
                self._client.xgroup_create(stream, group, id="0", mkstream=True)
            except redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
        self._known_groups.add((stream, group))

    def _read_up_to(self, stream: str, group: str) -> bytes:
        self._ensure_group(stream, group)
        with translated():
            groups = self._client.xinfo_groups(stream)
        return next((each["last-delivered-id"] for each in groups if each["name"] == group.encode()), b"0-0")


def entries(client: Any, stream: str) -> Iterator[tuple[str, bytes]]:
    yield from ((entry.decode(), fields.get(b"event", b"")) for entry, fields in whole_entries(client, stream))


def whole_entries(
    client: Any, stream: str, *, after: str = "-", last: str = "+"
) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """Yield the id and the fields of the entries in a range, with limits as XRANGE takes them."""
    count = 1
    while True:
        with translated():
            page: list[tuple[bytes, dict[bytes, bytes]]] = client.xrange(stream, after, last, count=count)
        yield from page
        if len(page) < count:
            return
        after = f"({page[-1][0].decode()}"
        largest = max(sum(map(len, fields.values())) for _, fields in page)
        count = max(1, min(2 * count, _PAGE, _ENOUGH // max(largest, 1)))


def peek(client: Any, stream: str, entry: str) -> bytes | int | None:
    """Return the event in *entry*; its size if it is too large, None if the entry is gone."""
    with translated():
        found: list[tuple[bytes, dict[bytes, bytes]]] = client.xrange(stream, entry, entry)
    event = found[0][1].get(b"event", b"") if found else None
    return len(event) if event and len(event) > LARGEST else event


_TRIMMED_AT_ONCE = 100  # entries examined per script call: the server serves no other client meanwhile


class RedisTrimming(RedisPart):
    """Removes old events from streams; groups of *subscriptions* are created first."""

    def trim(self, kind: type[Event], *, priority: Priority, keep: float) -> Iterator[int]:
        """Remove events that a stream accepted more than *keep* seconds ago, oldest first.

        Yields the number of removed events per page. An event stays while a group has not read it, has it pending, or a
        dead letter refers to it, since redriving needs it. The last event that a group has read stays as well. The
        iterator may be left between two pages; the next call continues.
        """
        stream = self._keys.stream(kind.type, priority)
        with translated():
            if not self._client.exists(stream):
                return
        # A foreign producer may have published before the first worker of its events: their group has to exist, reading
        # from 0, before anything is trimmed. And the server may have lost groups since the last check.
        self._known_groups.clear()
        self._ensure_subscribers(stream, kind)
        last, lettered = self._dead_lettered(kind, priority)
        begin, after = "-", (0, 0)
        while begin:
            where = (keep, kind.type, priority.value, begin, _TRIMMED_AT_ONCE, last)
            next_ = lettered[bisect_right(lettered, after, key=order) :][:_TRIMMED_AT_ONCE]
            removed, place = self._run("trim", (stream, self._keys.letters), (*where, *next_))
            begin = place.decode()
            after = order(begin.removeprefix("(")) if begin else after
            yield int(removed)

    def _dead_lettered(self, kind: type[Event], priority: Priority) -> tuple[str, list[str]]:
        """Return the last dead letter, and the entries that dead letters are about, in order."""
        last, about = b"0-0", set[str]()
        of_stream = (kind.type.encode(), priority.value.encode())
        for last, letter in whole_entries(self._client, self._keys.letters):  # noqa: B007 - kept for the end
            if (letter.get(b"kind"), letter.get(b"lane")) == of_stream:
                about.add(letter.get(b"entry", b"").decode())
        return last.decode(), sorted(about, key=order)


_DISK_MS = 5000
# Seconds between two polls: the server gives no notice when a key disappears or its time is over.
_POLL_INTERVAL = 0.02
_GRACE = 5.0  # extra seconds that a server may take to report that a blocking read has timed out

_LONGEST = 25.0
"""Maximum seconds that a commit waits for an erasure.

It is longer than the TTL of a key that is no longer renewed (see `RedisLogRewriter`).
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
