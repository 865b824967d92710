"""Dead letters in Redis: write and announce, list, find, redrive and drop them."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, starmap
from typing import Any

from nous.bus.accounting import DeadLetter
from nous.bus.base import DeadLetterKind, DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import announcement, dropped, event_of, fields_of, read_letter
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState
from nous.bus.redis.keys import CONSUMER
from nous.bus.redis.streams import RedisPart, peek, whole_entries
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import encode
from nous.domain.events import Event, JobDeadLettered
from nous.redis_support.errors import translated

LOST = "its entry was deleted from the stream while it was pending"


class RedisDeadLettering(RedisPart):
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
        event = event_of(peek(self._client, self._stream(ref), ref.entry), ref)
        failure = attempt_failure.encode() if attempt_failure else ""
        return self._dead_letter(ref, event, reason, grave, progress=progress, failure=failure, traceback=traceback)

    def _dead_letter(
        self,
        ref: DeliveryRef,
        event: Event | None,
        reason: str,
        grave: DeadLetterKind,
        *,
        progress: DeliveryState | None = None,
        failure: str = "",
        traceback: str = "",
    ) -> bool:
        letter = fields_of(ref, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
        told = None
        if grave is DeadLetterKind.DEAD:
            why, now = str(letter["reason"]), datetime.now(UTC)
            told = announcement(ref, event=event, reason=why, progress=progress, at=now)
        state = progress.encode() if progress else ""
        delivery = (ref.subscription.group, ref.entry, ref.name, state, grave.value, failure)
        fields = (encode(told) if told else b"", *chain.from_iterable(letter.items()))
        deaths = self._keys.stream(JobDeadLettered.type, Priority.LIVE)
        keys = (self._stream(ref), *self._keys.of_group(ref.subscription.group), self._keys.letters, deaths)
        return bool(self._run("dead_letter", keys, (*delivery, *fields)))

    def _stream(self, ref: DeliveryRef) -> str:
        return self._keys.stream(ref.subscription.kind.type, ref.priority)


_ID = re.compile(r"[0-9]{1,20}(?:-[0-9]{1,20})?")


class RedisDeadLetterQueue(RedisPart):
    """Dead letters of `RedisBus`, kept until they are redriven or dropped."""

    def letters(self) -> Sequence[DeadLetter]:
        """Return all dead letters, oldest first."""
        return sorted(self.each(), key=lambda letter: letter.at)

    def each(self) -> Iterator[DeadLetter]:
        """Yield the dead letters in the order in which they were written, one at a time.

        Some may be redriven or dropped meanwhile. Those written meanwhile are not yielded, so a loop that redrives each
        one retries none twice.
        """
        with translated():
            newest: list[tuple[bytes, Any]] = self._client.xrevrange(self._keys.letters, count=1)
        last = newest[0][0] if newest else b"0-0"
        return starmap(read_letter, whole_entries(self._client, self._keys.letters, last=last.decode()))

    def count(self) -> int:
        with translated():
            return int(self._client.xlen(self._keys.letters))

    def payload(self, letter: DeadLetter) -> bytes | int | None:
        """Return the event as its stream holds it; its size if too large, None if it is gone."""
        return peek(self._client, self._keys.stream(letter.kind, letter.priority), letter.entry)

    def find(self, letter_id: str) -> DeadLetter:
        """Return the dead letter with that id. Raises `NotFound` if there is none."""
        if not _ID.fullmatch(letter_id):
            raise BadInput(f"{letter_id[:80]!r} is not the id of a dead letter: `nous dead-letters list` shows them")
        with translated():
            found = self._client.xrange(self._keys.letters, letter_id, letter_id)
        if not found:
            raise NotFound(f"there is no dead letter {letter_id}: `nous dead-letters list` shows those there are")
        return read_letter(*found[0])

    def redrive(self, letter: DeadLetter, subscription: Subscription) -> bool:
        """Make the delivery pending again, without its errors; false if that was done before.

        Its attempts are counted on from where they were. Raises `NotFound` if the event is no longer in its stream.
        """
        group = subscription.group
        keys = (self._keys.stream(letter.kind, letter.priority), *self._keys.of_group(group), self._keys.letters)
        delivery = (group, CONSUMER, letter.entry, f"{letter.priority}/{letter.entry}")
        state = DeliveryState.redriven(letter.attempts).encode()
        redriven = AttemptFailure(fate=AttemptOutcome.REDRIVEN, attempt=letter.attempts).encode()
        made_pending = self._run("redrive", keys, (*delivery, letter.id, letter.letter_kind.value, state, redriven))
        if made_pending < 0:
            raise NotFound(
                f"the event of dead letter {letter.id} is no longer in its stream: it cannot be redriven, only dropped"
            )
        return bool(made_pending)

    def drop(self, letter: DeadLetter) -> bool:
        """Delete the dead letter; false if it was redriven or dropped before.

        The delivery stays counted as dead or parked. For a while its event is reported as skipped.
        """
        if letter.event_id is None:
            skipped, reason = "", ""
        else:
            skipped, reason = self._keys.skipped(letter.group, letter.event_id), dropped(letter)
        keys = (self._keys.letters, skipped)
        return bool(self._run("delete_dead_letter", keys, (letter.id, reason, self._marker_ttl)))
