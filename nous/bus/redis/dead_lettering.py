"""Dead-lettering in Redis: write the dead letter and publish `job_dead_lettered`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import redis

from nous.bus.base import DeadLetterKind, DeliveryRef, Priority
from nous.bus.dead_letter import announcement, event_of, fields_of
from nous.bus.delivery_state import AttemptFailure, DeliveryState
from nous.bus.redis.entries import peek
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import encode
from nous.domain.events import Event, JobDeadLettered
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

LOST = "its entry was deleted from the stream while it was pending"
_FOREIGN_ACK = (
    "it was not done, and is pending no more: somebody else acknowledged it, "
    "or deleted its entry, its consumer or its group"
)


class RedisDeadLettering:
    """The dead-lettering part of `RedisBus`."""

    def __init__(self, client: redis.Redis, keys: BusKeys, run: Scripts) -> None:
        # redis-py types its replies for sync and async clients and both protocols at once; they are narrowed where they
        # enter.
        self._client: Any = client
        self._keys = keys
        self._run = run

    def dead_letter(
        self,
        ref: DeliveryRef,
        *,
        progress: DeliveryState | None,
        reason: str,
        grave: DeadLetterKind = DeadLetterKind.DEAD,
        attempt_failure: AttemptFailure | None = None,
        traceback: str = "",
    ) -> bool:
        event = self._peek(ref)
        letter = fields_of(ref, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
        return self._write(ref, progress, grave, letter, event=event, attempt_failure=attempt_failure)

    def _dead_letter_unread(self, ref: DeliveryRef, *, reason: str, grave: DeadLetterKind) -> bool:
        """Dead-letter an entry in any state, without reading it."""
        letter = fields_of(ref, progress=None, reason=reason, grave=grave, event=None)
        return self._write(ref, None, grave, letter)

    def dead_letter_foreign_ack(self, ref: DeliveryRef, *, reason: str = _FOREIGN_ACK) -> bool:
        with translated():
            raw = self._client.hget(self._keys.progress(ref.subscription.group), ref.name)
        event, progress = self._peek(ref), DeliveryState.decode(raw) if raw else None
        letter = fields_of(ref, progress=progress, reason=reason, grave=DeadLetterKind.DEAD, event=event)
        announced = self._announced(ref, event, letter, progress)
        arguments = (ref.subscription.group, ref.entry, ref.name, announced, *chain.from_iterable(letter.items()))
        return bool(self._run("dead_letter_foreign_ack", self._keys_of(ref), arguments))

    def _write(
        self,
        ref: DeliveryRef,
        progress: DeliveryState | None,
        grave: DeadLetterKind,
        letter: dict[str, str | int],
        *,
        event: Event | None = None,
        attempt_failure: AttemptFailure | None = None,
    ) -> bool:
        announced = self._announced(ref, event, letter, progress) if grave is DeadLetterKind.DEAD else b""
        state, failure = progress.encode() if progress else "", attempt_failure.encode() if attempt_failure else ""
        delivery = (ref.subscription.group, ref.entry, ref.name, state, grave.value, failure)
        return bool(
            self._run("dead_letter", self._keys_of(ref), (*delivery, announced, *chain.from_iterable(letter.items())))
        )

    def _announced(
        self, ref: DeliveryRef, event: Event | None, letter: dict[str, str | int], progress: DeliveryState | None
    ) -> bytes:
        at = datetime.now(UTC)
        published = announcement(ref, event=event, reason=str(letter["reason"]), progress=progress, at=at)
        return encode(published) if published else b""

    def _peek(self, ref: DeliveryRef) -> Event | None:
        """Return the event at *ref*, if it exists and can be read."""
        return event_of(peek(self._client, self._stream(ref), ref.entry), ref)

    def _keys_of(self, ref: DeliveryRef) -> Sequence[str]:
        deaths = self._keys.stream(JobDeadLettered.type, Priority.LIVE)
        return self._stream(ref), *self._keys.of_group(ref.subscription.group), self._keys.letters, deaths

    def _stream(self, ref: DeliveryRef) -> str:
        return self._keys.stream(ref.subscription.kind.type, ref.priority)
