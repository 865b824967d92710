"""In-memory implementation of the event bus for tests, without erasure or key TTLs."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from nous.bus.accounting import outcome_of
from nous.bus.base import (
    REPEATED,
    Committed,
    Conflict,
    DeadLetterKind,
    Delivery,
    DeliveryRef,
    Duplicate,
    Priority,
    PublishReceipt,
    Subscription,
    Verdict,
)
from nous.bus.dead_letter import accepted_at, announcement, fields_of, letter_of
from nous.bus.delivery_state import AttemptFailure, DeliveryState, DeliveryStatus, append_failure
from nous.bus.memory.streams import MemoryStreams, Pending, place_of
from nous.domain.effects import Effects, Write
from nous.domain.errors import BadInput, Unavailable
from nous.domain.event_codec import UnknownEvent, decode, encode
from nous.domain.events import Event
from nous.text.sanitize import shortened

_FIRST = DeliveryState()


class MemoryBus(MemoryStreams):
    """A `Bus`, its counters and its dead letters within one process.

    *write* applies a handler's writes, all or none; it returns None, or the reason for a conflict. *has_upload* returns
    whether the upload of an event exists. *clock* returns seconds since the epoch.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Write]], str | None] = lambda _: None,
        *,
        has_upload: Callable[[Event], bool] = lambda _: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(clock)
        self._write = write
        self._has_upload = has_upload

    def publish(
        self, *events: Event, priority: Priority = Priority.LIVE, durable: bool = False
    ) -> Sequence[PublishReceipt]:
        del durable  # There is no disk to wait for.
        with self._changed:
            return [self._publish(event, priority) for event in events]

    def receive(
        self, subscription: Subscription, *, priority: Priority, limit: int, lease: float
    ) -> Sequence[Delivery]:
        with self._changed:
            refs = self._take(subscription, priority, limit, lease)
            deliveries = [self._read(ref, _FIRST) for ref in refs]
            return [delivery for delivery in deliveries if delivery and self._is_first_publication(delivery)]

    def wait(self, subscription: Subscription, *, priorities: Iterable[Priority], seconds: float) -> None:
        streams, group = self._streams, self._groups[subscription.group]
        places = [(subscription.kind.type, priority) for priority in priorities]
        with self._changed:
            self._changed.wait_for(lambda: any(len(streams[p]) > group.read[p] for p in places), seconds)

    def open(self, ref: DeliveryRef) -> Delivery | None:
        with self._changed:
            pending = self._pending(ref)
            return self._read(ref, pending.progress) if pending else None

    def begin(self, ref: DeliveryRef, *, attempt: int, lease: float) -> Delivery | None:
        with self._changed:
            delivery = self.open(ref)
            if delivery is None or not delivery.state.queues(attempt):
                return None
            begun = delivery.state.begun(uuid4().hex)
            self.compare_and_set_state(ref, before=delivery.state, after=begun, lease=lease)
            return replace(delivery, state=begun)

    def compare_and_set_state(
        self,
        ref: DeliveryRef,
        *,
        before: DeliveryState,
        after: DeliveryState,
        lease: float,
        attempt_failure: AttemptFailure | None = None,
    ) -> bool:
        with self._changed:
            pending = self._pending(ref)
            if pending is None or pending.progress != before:
                return False
            pending.progress, pending.lease_ends = after, self._clock() + lease
            pending.history = append_failure(pending.history, attempt_failure, self._date)
            return True

    def renew(self, refs: Iterable[DeliveryRef], *, lease: float) -> None:
        with self._changed:
            for ref in refs:
                if pending := self._pending(ref):
                    pending.lease_ends = max(pending.lease_ends, self._clock() + lease)

    def clamp_leases(self, subscription: Subscription, *, lease: float) -> int:
        with self._changed:
            group, ends = self._groups[subscription.group], self._clock() + lease
            late = [
                each
                for each in group.pending.values()
                if each.lease_ends > ends + 1 and each.progress.state is not DeliveryStatus.WAITING
            ]
            for each in late:
                each.lease_ends = ends
            return len(late)

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[DeliveryRef, DeliveryState]]:
        with self._changed:
            now = self._clock()
            pending = self._groups[subscription.group].pending.items()
            late = sorted((each.lease_ends, name, each.progress) for name, each in pending if each.lease_ends <= now)
            return [(DeliveryRef.named(name, subscription), progress) for _, name, progress in late[:limit]]

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        ref = delivery.ref
        with self._changed:
            group = self._groups[ref.subscription.group]
            if ref.name not in group.pending:
                return Duplicate()
            verdict = self._apply(effects, ref.priority)
            if isinstance(verdict, Committed):
                del group.pending[ref.name]
                group.counts[outcome_of(effects)] += 1
                if effects.skipped and effects.skipped != REPEATED:
                    group.skipped[delivery.event.id] = shortened(effects.skipped)
            return verdict

    def apply(self, effects: Effects, *, priority: Priority = Priority.LIVE) -> Verdict:
        with self._changed:
            return self._apply(effects, priority)

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
        with self._changed:
            pending = self._pending(ref)
            if pending is None or progress not in {None, pending.progress}:
                return False
            group = self._groups[ref.subscription.group]
            del group.pending[ref.name]
            group.counts[grave.value] += 1
            letter_id, event = self._next_entry(), self.event(ref)
            fields = fields_of(ref, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
            letter = letter_of(letter_id, {name: str(value) for name, value in fields.items()})
            self._letters[letter_id] = replace(
                letter, history=append_failure(pending.history, attempt_failure, self._date)
            )
            announced = announcement(ref, event=event, reason=letter.reason, progress=progress, at=self._date)
            if announced and grave is DeadLetterKind.DEAD:
                self.append(announced.type, encode(announced))
            return True

    def _take(self, subscription: Subscription, priority: Priority, limit: int, lease: float) -> Sequence[DeliveryRef]:
        group, place = self._groups[subscription.group], (subscription.kind.type, priority)
        offered = list(self._streams[place])[group.read[place] : group.read[place] + limit]
        group.read[place] += len(offered)
        group.counts["received"] += len(offered)
        refs = [DeliveryRef(subscription, priority, entry) for entry in offered]
        group.pending |= {ref.name: Pending(_FIRST, self._clock() + lease) for ref in refs}
        return refs

    def _pending(self, ref: DeliveryRef) -> Pending | None:
        return self._groups[ref.subscription.group].pending.get(ref.name)

    def _publish(self, event: Event, priority: Priority) -> PublishReceipt:
        markers = self._markers
        fresh = event.id not in markers
        if fresh and not self._has_upload(event):
            raise Unavailable(f"what was uploaded of session {event.session_id} is not there: publish it again")
        if fresh:
            markers[event.id] = f"{priority}/{self.append(event.type, encode(event), priority=priority)}"
        known_lane, _, entry = markers[event.id].partition("/")
        return PublishReceipt(event.id, event.session_id, Priority(known_lane), entry, fresh)

    def _apply(self, effects: Effects, priority: Priority) -> Verdict:
        refusal = self._write(effects.writes)
        if refusal is not None:
            return Conflict(refusal)
        for event in effects.events:
            self._publish(event, priority)
        return Committed()

    def _read(self, ref: DeliveryRef, progress: DeliveryState) -> Delivery | None:
        raw = self._streams[place_of(ref)][ref.entry]
        try:
            event = decode(raw, type_hint=ref.subscription.kind.type, accepted_at=accepted_at(ref.entry))
        except BadInput as error:
            grave = DeadLetterKind.PARKED if isinstance(error, UnknownEvent) else DeadLetterKind.DEAD
            self.dead_letter(ref, progress=None, reason=str(error), grave=grave)
            return None
        return Delivery(ref, event, progress)

    def _is_first_publication(self, delivery: Delivery) -> bool:
        place = delivery.ref.name
        if self._markers.setdefault(delivery.event.id, place) == place:
            return True
        self.commit(delivery, Effects(skipped=REPEATED))
        return False
