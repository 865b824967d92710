"""What was set aside, in Redis, until somebody decides."""

from collections.abc import Callable, Sequence
from typing import Any

import redis

from nous.bus.base import Subscription
from nous.bus.keys import BusKeys
from nous.bus.ledger import Letter
from nous.bus.letters import read_letter
from nous.bus.progress import Progress
from nous.bus.redis import CONSUMER
from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.errors import BadInput, NotFound


class RedisDeadLetters:
    """`DeadLetters` over the keys of `RedisBus`."""

    def __init__(
        self, client: redis.Redis, keys: BusKeys | None = None, *, clock: Callable[[], float] | None = None
    ) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._run = Scripts(client, clock)
        self._keys = keys or BusKeys()

    def letters(self, *, limit: int = 1000) -> Sequence[Letter]:
        with translated():
            found = self._client.xrange(self._keys.letters, count=limit)
        return sorted((read_letter(*each) for each in found), key=lambda letter: letter.at)

    def find(self, letter_id: str) -> Letter:
        if not letter_id.replace("-", "", 1).isdigit():
            raise BadInput(f"{letter_id!r} is not a letter's id: `nous dead list` shows them")
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
                *(self._keys.leases(group), self._keys.progress(group), self._keys.account(group), self._keys.letters),
            ),
            (
                *(group, CONSUMER, letter.entry, f"{letter.lane}/{letter.entry}"),
                *(letter.id, letter.grave.value, Progress.redriven(letter.attempts).encode()),
            ),
        )
        if made_pending < 0:
            raise NotFound(f"the event of letter {letter.id} is no longer in its stream; drop the letter")
        return bool(made_pending)

    def drop(self, letter: Letter) -> bool:
        with translated():
            return bool(self._client.xdel(self._keys.letters, letter.id))
