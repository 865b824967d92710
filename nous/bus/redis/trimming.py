"""Letting go of events on Redis Streams. The keys are listed in `nous.bus.redis.keys`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

import redis

from nous.bus.base import Lane, Subscription
from nous.bus.dead_letter import order
from nous.bus.redis.consumer_groups import Groups
from nous.bus.redis.entries import whole_entries
from nous.bus.redis.keys import BusKeys
from nous.domain.events import Event
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_PAGE = 100
"""Entries that are looked at in one go: nobody else is served meanwhile."""


@dataclass(slots=True)
class _Lettered:
    """The entries of one stream that letters are about, as far as the letters were read: up to *last*."""

    kind: str
    lane: Lane
    last: str = "0-0"
    entries: set[str] = field(default_factory=set[str])

    def read(self, letter: str, about: dict[bytes, bytes]) -> None:
        self.last = letter
        if (about.get(b"kind"), about.get(b"lane")) == (self.kind.encode(), self.lane.value.encode()):
            self.entries.add(about.get(b"entry", b"").decode(errors="replace"))

    def after(self, begin: str) -> list[str]:
        """The next of them, as many as may be met in one go."""
        behind = order(begin.removeprefix("(")) if begin != "-" else (-1, -1)
        return nsmallest(_PAGE, (entry for entry in self.entries if order(entry) > behind), key=order)


class RedisTrimming:
    """`Trimming` over the keys of `RedisBus`. *subscriptions* are groups that may have to be made first.

    *clock* replaces the server's time (seconds since the epoch), for tests.
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

    def trim(self, kind: type[Event], *, lane: Lane, keep: float) -> Iterator[int]:
        stream = self._keys.stream(kind.type, lane)
        with translated():
            if not self._client.exists(stream):
                return
        # A foreign producer may have been there before any worker that wants what it says: its group reads from 0. And
        # the server may have lost groups since anybody looked.
        Groups(self._client, self._subscriptions).ensure_subscribers(stream, kind)
        lettered, begin = _Lettered(kind.type, lane), "-"
        while begin:
            self._read_letters(lettered)
            where = (keep, kind.type, lane.value, begin, _PAGE, self._keys.prefix)
            arguments = (*where, lettered.last, *lettered.after(begin))
            removed, place = self._run("trim", (stream, self._keys.letters), arguments)
            begin = place.decode()
            yield int(removed)

    def _read_letters(self, lettered: _Lettered) -> None:
        """Read on where the last reading stopped; what comes after this one, the script sees itself."""
        for letter, about in whole_entries(self._client, self._keys.letters, after=f"({lettered.last}"):
            lettered.read(letter.decode(), about)
