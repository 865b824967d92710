"""Read counters, backlogs and events in Redis; write, redrive and drop dead letters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, starmap
from typing import Any
from uuid import UUID

from nous.bus.accounting import Backlog, DeadLetter, EventLocation, EventStatus, GroupCounters
from nous.bus.base import DeadLetterKind, DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import accepted_at, announcement, dropped, event_of, fields_of, order, read_letter
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState
from nous.bus.redis.keys import CONSUMER
from nous.bus.redis.streams import RedisPart, entries, peek, whole_entries
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import encode
from nous.domain.events import Event, JobDeadLettered
from nous.domain.scope import Scope
from nous.redis_support.errors import translated


class RedisDeliveryStats(RedisPart):
    """Counters, backlogs and events in the keys of `RedisBus`."""

    def counters(self, subscription: Subscription) -> GroupCounters:
        with translated(), self._client.pipeline(transaction=True) as pipe:
            # One transaction: counters and pending lists read at different moments would not reconcile.
            pipe.hgetall(self._keys.counters(subscription.group))
            for priority in Priority:
                pipe.xpending(self._keys.stream(subscription.kind.type, priority), subscription.group)
            counts, *pending = pipe.execute(raise_on_error=False)
            if isinstance(counts, Exception):
                raise counts
        in_flight = sum(each["pending"] for each in pending if isinstance(each, dict))
        numbers = {name.decode(): int(count) for name, count in counts.items()}
        return GroupCounters.of(numbers, in_flight=in_flight)

    def groups(self, kinds: Iterable[type[Event]]) -> Sequence[Subscription]:
        """Return every consumer group on the streams of *kinds*, those of other programs included."""
        places = [(kind, self._keys.stream(kind.type, priority)) for kind in kinds for priority in Priority]
        with translated(), self._client.pipeline(transaction=False) as pipe:
            for _, stream in places:
                pipe.xinfo_groups(stream)
            answers: list[Any] = pipe.execute(raise_on_error=False)  # a missing stream is an error
        found = zip((kind for kind, _ in places), answers, strict=True)
        known = ((kind, group) for kind, groups in found if isinstance(groups, list) for group in groups)
        return list(dict.fromkeys(Subscription(group["name"].decode(errors="replace"), kind) for kind, group in known))

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        return [self._backlog(subscription, priority) for priority in Priority]

    def locate(self, event_id: UUID, subscription: Subscription) -> EventLocation:
        """Return the location; UNKNOWN for an event that was not published, or too long ago."""
        with translated():
            place = self._client.get(self._keys.marker(event_id))
        if place is None:  # a user who may only publish can learn this, but has no access to the rest
            return EventLocation(where=EventStatus.UNKNOWN)
        ref = DeliveryRef.named(place.decode(), subscription)
        found = self._search(ref)
        if found.where in {EventStatus.DONE, EventStatus.UNKNOWN}:
            with translated():  # read last: the commit that skips the event may come between the two
                skipped = self._client.get(self._keys.skipped(subscription.group, event_id))
            if skipped is not None:
                return EventLocation(where=EventStatus.SKIPPED, ref=ref, reason=skipped.decode())
        return found

    def event(self, ref: DeliveryRef) -> Event | None:
        """Return the event at *ref*, also if dead or done; None if it is gone or unreadable."""
        return event_of(peek(self._client, self._stream(ref), ref.entry), ref)

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        """Return the ids of a session's events, oldest first. Reads the stream of *kind* whole."""
        may_be_escaped = not (session_id.isascii() and session_id.isalnum())
        found = (
            event_of(raw, DeliveryRef(Subscription("", kind), priority, entry))
            for priority in Priority
            for entry, raw in entries(self._client, self._keys.stream(kind.type, priority))
            if may_be_escaped or session_id.encode() in raw
        )
        return list(
            dict.fromkeys(each.id for each in found if each and (each.session_id, each.scope) == (session_id, scope))
        )

    def _search(self, ref: DeliveryRef) -> EventLocation:
        stream, group = self._stream(ref), ref.subscription.group
        with translated():
            is_there = self._client.xrange(stream, ref.entry, ref.entry)
        if not is_there:  # the event is of another kind, or was trimmed
            return EventLocation(where=EventStatus.UNKNOWN)
        known = self._group(stream, group)
        if known and (found := self._in_flight(ref)):
            return found
        if order(ref.entry) > order(known.get("last-delivered-id", b"0-0").decode()):
            return EventLocation(where=EventStatus.WAITING, ref=ref)
        # Filtered before they are decoded: most dead letters are about other entries.
        letters = whole_entries(self._client, self._keys.letters)
        near = (each for each in letters if each[1].get(b"entry") == ref.entry.encode())
        for letter in starmap(read_letter, near):
            if letter.is_about(ref):
                return EventLocation(where=EventStatus(letter.letter_kind.value), ref=ref, reason=letter.reason)
        # Its dead letter may have been redriven while the others were read.
        again = self._in_flight(ref) if known else None
        return again or EventLocation(where=EventStatus.DONE, ref=ref)

    def _in_flight(self, ref: DeliveryRef) -> EventLocation | None:
        """Return the location if the group, which has to exist, has the entry pending."""
        stream, group = self._stream(ref), ref.subscription.group
        with translated():
            if not self._client.xpending_range(stream, group, ref.entry, ref.entry, 1):
                return None
            raw: bytes | None = self._client.hget(self._keys.progress(group), ref.name)
            lease_ends = self._client.zscore(self._keys.leases(group), ref.name)
        progress = DeliveryState.decode(raw) if raw else None
        return EventLocation(
            where=EventStatus.IN_FLIGHT,
            ref=ref,
            reason=progress.in_words if progress else "",
            next_try=progress.next_try(lease_ends) if progress else None,
        )

    def _backlog(self, subscription: Subscription, priority: Priority) -> Backlog:
        stream = self._keys.stream(subscription.kind.type, priority)
        group = self._group(stream, subscription.group)
        with translated():
            length = int(self._client.xlen(stream))
            pending: dict[str, Any] = self._client.xpending(stream, subscription.group) if group else {}
        waiting = self._waiting(stream, group) if group else length
        return Backlog(
            priority=priority,
            length=length,
            waiting=waiting,
            pending=int(pending.get("pending", 0)),
            oldest_pending=accepted_at(oldest.decode()) if (oldest := pending.get("min")) else None,
        )

    def _waiting(self, stream: str, group: dict[str, Any]) -> int | None:
        """Count the entries that the group has not read; None if the server cannot count them.

        Its answer is nil after an XDEL among the unread entries, even when none of these is left. It also keeps
        counting unread entries that a foreign producer has trimmed (XTRIM, MAXLEN).
        """
        lag: int | None = group.get("lag")
        if lag == 0:
            return 0
        with translated():
            ahead = self._client.xrange(stream, f"({group['last-delivered-id'].decode()}", count=1)
        return lag if ahead else 0

    def _group(self, stream: str, group: str) -> dict[str, Any]:
        """Return what the server knows of a group; empty if there is no such group yet."""
        with translated():
            groups: Iterable[dict[str, Any]] = self._client.xinfo_groups(stream) if self._client.exists(stream) else ()
        return next((each for each in groups if each["name"] == group.encode()), {})


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
        is_readable: bool = True,
    ) -> bool:
        event = event_of(peek(self._client, self._stream(ref), ref.entry), ref) if is_readable else None
        letter = fields_of(ref, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
        told = None
        if grave is DeadLetterKind.DEAD:
            why, now = str(letter["reason"]), datetime.now(UTC)
            told = announcement(ref, event=event, reason=why, progress=progress, at=now)
        state = progress.encode() if progress else ""
        failure = attempt_failure.encode() if attempt_failure else ""
        delivery = (ref.subscription.group, ref.entry, ref.name, state, grave.value, failure)
        fields = (encode(told) if told else b"", *chain.from_iterable(letter.items()))
        deaths = self._keys.stream(JobDeadLettered.type, Priority.LIVE)
        keys = (self._stream(ref), *self._keys.of_group(ref.subscription.group), self._keys.letters, deaths)
        return bool(self._run("dead_letter", keys, (*delivery, *fields)))


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
