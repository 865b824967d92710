"""The bus in memory: what `nous.bus.redis.bus` promises, without a server. For tests, and for trying things out."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from nous.bus.accounting import outcome_of
from nous.bus.base import (
    READ_ON,
    REPEATED,
    Committed,
    Delivery,
    Duplicate,
    Grave,
    Lane,
    Receipt,
    Refused,
    Subscription,
    Ticket,
    Verdict,
)
from nous.bus.dead_letter import accepted_at, announcement, fields_of, letter_of
from nous.bus.delivery_state import Mishap, Progress, State, noted
from nous.bus.memory.streams import MemoryBooks, MemoryLog, Pending, place_of, write_nothing
from nous.domain.effects import Effects, ReleaseTranscript, Write
from nous.domain.errors import BadInput, Unavailable
from nous.domain.event_codec import UnknownEvent, decode, encode
from nous.domain.events import Event, SessionEvent
from nous.text.sanitize import shortened

_FIRST = Progress()


class MemoryBus(MemoryBooks):
    """A `Bus` in one process, and its books beside it. *clock* gives seconds since the epoch.

    *write* applies a handler's writes, all of them or none: it answers None, or the reason for its refusal.
    *has_upload* tells whether what was uploaded for an event is there.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Write]], str | None] = write_nothing,
        *,
        has_upload: Callable[[Event], bool] = lambda _: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(MemoryLog(clock))
        self._write = write
        self._has_upload = has_upload

    def publish(self, *events: Event, lane: Lane = Lane.LIVE, durable: bool = False) -> Sequence[Receipt]:
        del durable  # There is no disk to wait for.
        with self._log.changed:
            return [self._publish(event, lane) for event in events]

    def release(self, event: Event) -> bool:
        if not isinstance(event, SessionEvent) or not (event.dataref or "").startswith("redis:"):
            return False
        with self._log.changed:
            if self._log.may_be_read(event):
                return False
            return self._write((ReleaseTranscript(scope=event.scope, dataref=event.dataref or ""),)) is None

    def append(self, type_: str, raw: bytes, *, lane: Lane = Lane.LIVE) -> str:
        """Put *raw* into a stream as a foreign producer would, with no marker; returns the entry's id."""
        return self._log.append((type_, lane), raw)

    def receive(self, subscription: Subscription, *, lane: Lane, limit: int, lease: float) -> Sequence[Delivery]:
        with self._log.changed:
            for _ in range(READ_ON):
                tickets = self._take(subscription, lane, limit, lease)
                deliveries = [self._read(ticket, _FIRST) for ticket in tickets]
                first = [delivery for delivery in deliveries if delivery and self._is_first_telling(delivery)]
                if first or not tickets:
                    return first
        return ()

    def wait(self, subscription: Subscription, *, lanes: Iterable[Lane], seconds: float) -> None:
        streams, group = self._log.streams, self._log.groups[subscription.group]
        places = [(subscription.kind.type, lane) for lane in lanes]
        with self._log.changed:
            self._log.changed.wait_for(lambda: any(len(streams[p]) > group.read[p] for p in places), seconds)

    def open(self, ticket: Ticket) -> Delivery | None:
        with self._log.changed:
            pending = self._pending(ticket)
            return self._read(ticket, pending.progress) if pending else None

    def begin(self, ticket: Ticket, *, attempt: int, lease: float) -> Delivery | None:
        with self._log.changed:
            delivery = self.open(ticket)
            if delivery is None or not delivery.progress.offers(attempt):
                return None
            begun = delivery.progress.begun(uuid4().hex)
            self.amend(ticket, before=delivery.progress, after=begun, lease=lease)
            return replace(delivery, progress=begun)

    def amend(
        self, ticket: Ticket, *, before: Progress, after: Progress, lease: float, mishap: Mishap | None = None
    ) -> bool:
        with self._log.changed:
            pending = self._pending(ticket)
            if pending is None or pending.progress != before:
                return False
            pending.progress, pending.lease_ends = after, self._log.clock() + lease
            pending.history = noted(pending.history, mishap, self._log.date)
            return True

    def renew(self, tickets: Iterable[Ticket], *, lease: float) -> None:
        with self._log.changed:
            for ticket in tickets:
                if pending := self._pending(ticket):
                    pending.lease_ends = max(pending.lease_ends, self._log.clock() + lease)

    def pull_in(self, subscription: Subscription, *, lease: float) -> int:
        with self._log.changed:
            group, now = self._log.groups[subscription.group], self._log.clock()
            ends = now + group.longest_lease(lease, now)
            late = [
                each
                for each in group.pending.values()
                if each.lease_ends > ends + 1 and each.progress.state is not State.WAITING
            ]
            for each in late:
                each.lease_ends = ends
            return len(late)

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[Ticket, Progress]]:
        with self._log.changed:
            now = self._log.clock()
            pending = self._log.groups[subscription.group].pending.items()
            late = sorted((each.lease_ends, name, each.progress) for name, each in pending if each.lease_ends <= now)
            return [(Ticket.named(name, subscription), progress) for _, name, progress in late[:limit]]

    def adopt(self, subscription: Subscription, *, lane: Lane) -> int:
        # Nobody else can receive from this bus; but from now on the group is one of those that read the stream.
        with self._log.changed:
            self._log.groups[subscription.group].read[subscription.kind.type, lane] += 0
        return 0

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        ticket = delivery.ticket
        with self._log.changed:
            group = self._log.groups[ticket.subscription.group]
            if ticket.name not in group.pending:
                return Duplicate()
            verdict = self._apply(effects, ticket.lane)
            if isinstance(verdict, Committed):
                del group.pending[ticket.name]
                group.count(outcome_of(effects))
                if effects.skipped and effects.skipped != REPEATED:
                    group.skipped[delivery.event.id] = shortened(effects.skipped)
            return verdict

    def apply(self, effects: Effects, *, lane: Lane = Lane.LIVE) -> Verdict:
        with self._log.changed:
            return self._apply(effects, lane)

    def bury(
        self,
        ticket: Ticket,
        *,
        progress: Progress | None,
        reason: str,
        grave: Grave = Grave.DEAD,
        mishap: Mishap | None = None,
        traceback: str = "",
    ) -> bool:
        with self._log.changed:
            pending = self._pending(ticket)
            if pending is None or progress not in {None, pending.progress}:
                return False
            group = self._log.groups[ticket.subscription.group]
            del group.pending[ticket.name]
            group.count(grave.value)
            letter_id, event = self._log.next_entry(), self._log.peek(ticket)
            fields = fields_of(ticket, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
            letter = letter_of(letter_id, {name: str(value) for name, value in fields.items()})
            self._log.letters[letter_id] = replace(letter, history=noted(pending.history, mishap, self._log.date))
            told = announcement(ticket, event=event, reason=letter.reason, progress=progress, at=self._log.date)
            if told and grave is Grave.DEAD:
                self.append(told.type, encode(told))
            return True

    def disown(self, ticket: Ticket) -> bool:
        del ticket  # Nobody else can acknowledge on this bus.
        return False

    def _take(self, subscription: Subscription, lane: Lane, limit: int, lease: float) -> Sequence[Ticket]:
        group, place = self._log.groups[subscription.group], (subscription.kind.type, lane)
        offered = list(self._log.streams[place])[group.read[place] : group.read[place] + limit]
        group.read[place] += len(offered)
        group.counts["received"] += len(offered)
        tickets = [Ticket(subscription, lane, entry) for entry in offered]
        group.pending |= {ticket.name: Pending(_FIRST, self._log.clock() + lease) for ticket in tickets}
        return tickets

    def _pending(self, ticket: Ticket) -> Pending | None:
        return self._log.groups[ticket.subscription.group].pending.get(ticket.name)

    def _publish(self, event: Event, lane: Lane) -> Receipt:
        markers = self._log.markers
        fresh = event.id not in markers
        if fresh and not self._has_upload(event):
            raise Unavailable(f"what was uploaded of session {event.session_id} is not there: publish it again")
        if fresh:
            markers[event.id] = f"{lane}/{self.append(event.type, encode(event), lane=lane)}"
        known_lane, _, entry = markers[event.id].partition("/")
        return Receipt(event.id, Lane(known_lane), entry, fresh)

    def _apply(self, effects: Effects, lane: Lane) -> Verdict:
        refusal = self._write(effects.writes)
        if refusal is not None:
            return Refused(refusal)
        for event in effects.events:
            self._publish(event, lane)
        return Committed()

    def _read(self, ticket: Ticket, progress: Progress) -> Delivery | None:
        raw = self._log.streams[place_of(ticket)][ticket.entry]
        try:
            event = decode(raw, type_hint=ticket.subscription.kind.type, accepted_at=accepted_at(ticket.entry))
        except BadInput as error:
            grave = Grave.PARKED if isinstance(error, UnknownEvent) else Grave.DEAD
            self.bury(ticket, progress=None, reason=str(error), grave=grave)
            return None
        return Delivery(ticket, event, progress)

    def _is_first_telling(self, delivery: Delivery) -> bool:
        place = delivery.ticket.name
        if self._log.markers.setdefault(delivery.event.id, place) == place:
            return True
        self.commit(delivery, Effects(skipped=REPEATED))
        return False
