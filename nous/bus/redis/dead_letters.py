"""What was set aside, in Redis, until somebody decides."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, starmap
from typing import Any
from uuid import UUID, uuid4

import redis

from nous.bus.accounting import Letter
from nous.bus.base import Subscription
from nous.bus.dead_letter import dropped, read_letter
from nous.bus.delivery_state import Fate, Mishap, Progress
from nous.bus.redis.bus import CONSUMER
from nous.bus.redis.entries import peek_as_viewer, whole_entries
from nous.bus.redis.keys import BusKeys
from nous.domain.errors import BadInput, NotFound
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_WEEK = 7 * 24 * 3600
_ID = re.compile(r"[0-9]{1,20}(?:-[0-9]{1,20})?")


class RedisDeadLetters:
    """`DeadLetters` over the keys of `RedisBus`. *marker_ttl* is for how many seconds it is known what was dropped."""

    def __init__(
        self,
        client: redis.Redis,
        keys: BusKeys | None = None,
        *,
        marker_ttl: int = _WEEK,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._run = Scripts(client, clock, package="nous.bus.redis")
        self._keys = keys or BusKeys()
        self._marker_ttl = marker_ttl

    def letters(self, *, limit: int | None = None) -> Sequence[Letter]:
        return sorted(islice(self.each(), limit), key=lambda letter: letter.at)

    def each(self) -> Iterator[Letter]:
        # Up to the last that stands there now: what is redriven and dies again is written behind it, and whoever
        # redrives each would be told of it without end.
        with translated():
            newest: list[tuple[bytes, Any]] = self._client.xrevrange(self._keys.letters, count=1)
        last = newest[0][0] if newest else b"0-0"
        return starmap(read_letter, whole_entries(self._client, self._keys.letters, last=last.decode()))

    def count(self) -> int:
        with translated():
            return int(self._client.xlen(self._keys.letters))

    def payload(self, letter: Letter) -> bytes | int | None:
        if not letter.is_readable:
            return None
        stream = self._keys.stream(letter.kind, letter.lane)
        return peek_as_viewer(self._client, self._run, stream, letter.entry)

    def find(self, letter_id: str) -> Letter:
        if not _ID.fullmatch(letter_id):
            raise BadInput(f"{letter_id[:80]!r} is not a letter's id: `nous dead list` shows them")
        with translated():
            found = self._client.xrange(self._keys.letters, letter_id, letter_id)
        if not found:
            raise NotFound(f"there is no dead letter {letter_id}: `nous dead list` shows those there are")
        return read_letter(*found[0])

    def redrive(self, letter: Letter, subscription: Subscription) -> bool:
        group = subscription.group
        made_pending = self._run(
            "redrive",
            (
                self._keys.stream(letter.kind, letter.lane),
                *(self._keys.leases(group), self._keys.progress(group), self._keys.account(group)),
                *(self._keys.letters, self._keys.taken(letter.id)),
            ),
            (
                *(group, CONSUMER, letter.entry, f"{letter.lane}/{letter.entry}"),
                *(letter.id, letter.grave.value, Progress.redriven(letter.attempts).encode()),
                *(Mishap(fate=Fate.REDRIVEN, attempt=letter.attempts).encode(), uuid4().hex),
            ),
        )
        if made_pending < 0:
            raise NotFound(
                f"the event of letter {letter.id} is no longer in its stream: nothing can be redriven; drop the letter"
            )
        return bool(made_pending)

    def drop(self, letter: Letter) -> bool:
        about = _id_in(letter)
        skipped, told = (self._keys.skipped(letter.group, about), dropped(letter)) if about else ("", "")
        keys = (self._keys.letters, skipped, self._keys.taken(letter.id))
        return bool(self._run("drop", keys, (letter.id, told, self._marker_ttl, uuid4().hex)))


def _id_in(letter: Letter) -> UUID | None:
    """The id of the event that a letter is about; one of somebody else may tell none."""
    try:
        return UUID(letter.event_id) if letter.is_readable and letter.event_id else None
    except ValueError:
        return None
