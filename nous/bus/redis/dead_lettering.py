"""Setting deliveries aside, in Redis: the letter, and the event that tells of it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import redis

from nous.bus.base import Grave, Lane, Ticket
from nous.bus.dead_letter import announcement, event_of, fields_of
from nous.bus.delivery_state import Mishap, Progress
from nous.bus.redis.entries import peek
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import encode
from nous.domain.events import Event, JobDeadLettered
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

LOST = "its entry was deleted from the stream while it was pending"
_DISOWNED = (
    "it was not done, and is pending no more: somebody else acknowledged it, "
    "or deleted its entry, its consumer or its group"
)


class RedisBurial:
    """What `RedisBus` does of it. The keys are listed in `nous.bus.redis.keys`."""

    def __init__(self, client: redis.Redis, keys: BusKeys, run: Scripts) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys
        self._run = run

    def bury(
        self,
        ticket: Ticket,
        *,
        progress: Progress | None,
        reason: str,
        grave: Grave,
        mishap: Mishap | None,
        traceback: str,
    ) -> bool:
        event = self._peek(ticket)
        letter = fields_of(ticket, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
        return self._bury(ticket, progress, grave, letter, event=event, mishap=mishap)

    def set_aside(self, ticket: Ticket, *, reason: str, grave: Grave) -> bool:
        """Bury what nobody can read, whatever its progress; it is not looked at again."""
        letter = fields_of(ticket, progress=None, reason=reason, grave=grave, event=None)
        return self._bury(ticket, None, grave, letter)

    def disown(self, ticket: Ticket, *, reason: str = _DISOWNED) -> bool:
        with translated():
            raw = self._client.hget(self._keys.progress(ticket.subscription.group), ticket.name)
        event, progress = self._peek(ticket), Progress.decode(raw) if raw else None
        letter = fields_of(ticket, progress=progress, reason=reason, grave=Grave.DEAD, event=event)
        told = self._announced(ticket, event, letter, progress)
        arguments = (ticket.subscription.group, ticket.entry, ticket.name, told, *chain.from_iterable(letter.items()))
        return bool(self._run("disown", self._keys_of(ticket), arguments))

    def _bury(
        self,
        ticket: Ticket,
        progress: Progress | None,
        grave: Grave,
        letter: dict[str, str | int],
        *,
        event: Event | None = None,
        mishap: Mishap | None = None,
    ) -> bool:
        told = self._announced(ticket, event, letter, progress) if grave is Grave.DEAD else b""
        arguments = (
            *(ticket.subscription.group, ticket.entry, ticket.name, progress.encode() if progress else ""),
            *(grave.value, mishap.encode() if mishap else "", told, *chain.from_iterable(letter.items())),
        )
        return bool(self._run("bury", self._keys_of(ticket), arguments))

    def _announced(
        self, ticket: Ticket, event: Event | None, letter: dict[str, str | int], progress: Progress | None
    ) -> bytes:
        at = datetime.now(UTC)
        told = announcement(ticket, event=event, reason=str(letter["reason"]), progress=progress, at=at)
        return encode(told) if told else b""

    def _peek(self, ticket: Ticket) -> Event | None:
        """The event behind a ticket, if it is there and can be read."""
        return event_of(peek(self._run, self._stream(ticket), ticket.entry), ticket)

    def _keys_of(self, ticket: Ticket) -> Sequence[str]:
        group = ticket.subscription.group
        deaths = self._keys.stream(JobDeadLettered.type, Lane.LIVE)
        counters = self._keys.leases(group), self._keys.progress(group), self._keys.account(group)
        return self._stream(ticket), *counters, self._keys.letters, deaths

    def _stream(self, ticket: Ticket) -> str:
        return self._keys.stream(ticket.subscription.kind.type, ticket.lane)
