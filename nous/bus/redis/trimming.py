"""Trims old events from Redis Streams.

The keys are listed in `nous.bus.redis.keys`.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

import redis

from nous.bus.base import Priority, Subscription
from nous.bus.dead_letter import order
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import ConsumerGroups, RedisPart, whole_entries
from nous.domain.events import Event
from nous.redis_support.errors import translated

_PAGE = 100
"""Entries examined per script call: the server serves no other client meanwhile."""


class RedisTrimming(RedisPart):
    """`Trimming` over the keys of `RedisBus`.

    *subscriptions* are groups that may have to be created first. *clock* replaces the server's time (seconds since the
    epoch), for tests.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: BusKeys | None = None,
        *,
        subscriptions: Sequence[Subscription] = (),
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(client, keys, clock=clock)
        self._subscriptions = subscriptions

    def trim(self, kind: type[Event], *, priority: Priority, keep: float) -> Iterator[int]:
        stream = self._keys.stream(kind.type, priority)
        with translated():
            if not self._client.exists(stream):
                return
        # A foreign producer may have published before the first worker of its events: their group has to exist, reading
        # from 0, before anything is trimmed. And the server may have lost groups since the last check.
        ConsumerGroups(self._client, self._subscriptions).ensure_subscribers(stream, kind)
        last, lettered = self._dead_lettered(kind, priority)
        begin, after = "-", (0, 0)
        while begin:
            where = (keep, kind.type, priority.value, begin, _PAGE, last)
            next_ = lettered[bisect_right(lettered, after, key=order) :][:_PAGE]
            removed, place = self._run("trim", (stream, self._keys.letters), (*where, *next_))
            begin = place.decode()
            after = order(begin.removeprefix("(")) if begin else after
            yield int(removed)

    def _dead_lettered(self, kind: type[Event], priority: Priority) -> tuple[str, list[str]]:
        """Return the last dead letter, and the entries of a stream that dead letters are about.

        Entries are in their order. The script itself checks dead letters that are written later.
        """
        last, about = b"0-0", set[str]()
        of_stream = (kind.type.encode(), priority.value.encode())
        for last, letter in whole_entries(self._client, self._keys.letters):  # noqa: B007 - kept for the end
            if (letter.get(b"kind"), letter.get(b"lane")) == of_stream:
                about.add(letter.get(b"entry", b"").decode())
        return last.decode(), sorted(about, key=order)
