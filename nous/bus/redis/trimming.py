"""Trims old events from Redis Streams.

The keys are listed in `nous.bus.redis.keys`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

import redis

from nous.bus.base import Priority, Subscription
from nous.bus.dead_letter import order
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import ConsumerGroups, whole_entries
from nous.domain.events import Event
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_PAGE = 100
"""Entries examined per script call: the server serves no other client meanwhile."""


@dataclass(slots=True)
class _DeadLetteredEntries:
    """The entries of one stream that dead letters are about, read up to the dead letter *last*."""

    kind: str
    priority: Priority
    last: str = "0-0"
    entries: set[str] = field(default_factory=set[str])

    def read(self, letter: str, about: dict[bytes, bytes]) -> None:
        self.last = letter
        if (about.get(b"kind"), about.get(b"lane")) == (self.kind.encode(), self.priority.value.encode()):
            self.entries.add(about.get(b"entry", b"").decode(errors="replace"))

    def after(self, begin: str) -> list[str]:
        """Return the next of them after *begin*, as many as one call may meet."""
        behind = order(begin.removeprefix("(")) if begin != "-" else (-1, -1)
        return nsmallest(_PAGE, (entry for entry in self.entries if order(entry) > behind), key=order)


class RedisTrimming:
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
        self._client: Any = client  # narrowed where its answers enter
        self._run = Scripts(client, clock, package="nous.bus.redis")
        self._keys = keys or BusKeys()
        self._subscriptions = subscriptions

    def trim(self, kind: type[Event], *, priority: Priority, keep: float) -> Iterator[int]:
        stream = self._keys.stream(kind.type, priority)
        with translated():
            if not self._client.exists(stream):
                return
        # A foreign producer may have published before the first worker of its events: their group has to exist, reading
        # from 0, before anything is trimmed. And the server may have lost groups since the last check.
        ConsumerGroups(self._client, self._subscriptions).ensure_subscribers(stream, kind)
        lettered, begin = _DeadLetteredEntries(kind.type, priority), "-"
        while begin:
            self._read_letters(lettered)
            where = (keep, kind.type, priority.value, begin, _PAGE, self._keys.prefix)
            arguments = (*where, lettered.last, *lettered.after(begin))
            removed, place = self._run("trim", (stream, self._keys.letters), arguments)
            begin = place.decode()
            yield int(removed)

    def _read_letters(self, lettered: _DeadLetteredEntries) -> None:
        """Read on after the last dead letter; the script itself checks those written later."""
        for letter, about in whole_entries(self._client, self._keys.letters, after=f"({lettered.last}"):
            lettered.read(letter.decode(), about)
