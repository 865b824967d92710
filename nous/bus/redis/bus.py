"""Event bus on Redis Streams: publish, receive on a lease, commit atomically by Lua script.

The stream is the event log; an entry that a group has pending is not done yet. Every write is one script or command
that may be sent twice, since redis-py re-sends a command whose reply was lost. The keys are listed in
`nous/bus/redis/keys.md`, the scripts in `nous/bus/redis/scripts`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any
from uuid import uuid4

import redis
import structlog

from nous.bus.accounting import outcome_of
from nous.bus.base import (
    REPEATED,
    DeadLetterKind,
    Delivery,
    DeliveryRef,
    Priority,
    PublishReceipt,
    Subscription,
    Verdict,
)
from nous.bus.dead_letter import accepted_at
from nous.bus.delivery_state import AttemptFailure, DeliveryState
from nous.bus.erasure import FORGOTTEN, name_of, refusal, texts_told_by, told_by
from nous.bus.redis import commit
from nous.bus.redis.accounting import LOST, RedisDeadLettering
from nous.bus.redis.commit import CommitPlan, Precondition, RedisCommand
from nous.bus.redis.keys import CONSUMER, BusKeys
from nous.bus.redis.streams import WEEK, wait_for, wait_for_disk, wait_for_entry, wait_for_write
from nous.domain.effects import Effects, Write
from nous.domain.errors import BadInput, Unavailable
from nous.domain.event_codec import LARGEST, UnknownEvent, decode, encode, too_large
from nous.domain.events import Event
from nous.domain.scope import Scope
from nous.redaction.error_text import redacted
from nous.redis_support.errors import GroupGone, translated
from nous.text.sanitize import shortened

_FIRST = DeliveryState()
# Replies of the script `publish` for an event that it did not append: erased, or without its upload.
_FORGOTTEN, _BARE = -1, -2
_SKIPPED = {b"repeated": REPEATED, b"forgotten": FORGOTTEN}

log = structlog.get_logger(__name__)


class RedisBus(RedisDeadLettering):
    """A `Bus` on one Redis primary.

    *plan_of* turns a handler's write into preconditions and commands for the commit. *subscriptions* are groups that
    `publish` creates, so that they miss nothing of a producer that starts before them, and autoscalers find them.
    *upload_of* returns the key of an event's upload, if it has one. Events and effects are written as *gate* returns
    them.
    """

    def __init__(
        self,
        client: redis.Redis,
        *,
        plan_of: Callable[[Write], CommitPlan],
        keys: BusKeys | None = None,
        subscriptions: Sequence[Subscription] = (),
        upload_of: Callable[[Event], str | None] = lambda _: None,
        marker_ttl: int = WEEK,
        clock: Callable[[], float] | None = None,
        gate: Callable[[Any], Any] = lambda sent: sent,
    ) -> None:
        super().__init__(client, keys, subscriptions=subscriptions, marker_ttl=marker_ttl, clock=clock)
        self._plan_of = plan_of
        self._upload_of = upload_of
        self._gate = gate

    def publish(
        self, *events: Event, priority: Priority = Priority.LIVE, durable: bool = False
    ) -> Sequence[PublishReceipt]:
        for kind in {type(event) for event in events}:
            self._ensure_subscribers(self._keys.stream(kind.type, priority), kind)
        receipts = [self._publish(self._gate(event), priority) for event in events]
        markers = [self._keys.marker(each.event_id) for each in receipts]
        if durable:
            # This covers the upload: the script has found it, so it stands before the event in the AOF.
            wait_for_disk(self._client, markers, ttl=self._marker_ttl)
        elif markers:
            wait_for_write(self._client, markers)
        return receipts

    def receive(
        self, subscription: Subscription, *, priority: Priority, limit: int, lease: float
    ) -> Sequence[Delivery]:
        entries = self._take(subscription, priority, limit, lease)
        deliveries = [
            self._read(DeliveryRef(subscription, priority, entry.decode()), raw, _FIRST) for entry, raw in entries
        ]
        return self._first_publications([delivery for delivery in deliveries if delivery])

    def wait(self, subscription: Subscription, *, priorities: Iterable[Priority], seconds: float) -> None:
        # From what the group has read, not from "$": an event that came since the last look must not be waited past.
        streams = [self._keys.stream(subscription.kind.type, priority) for priority in priorities]
        with translated():
            read_up_to = {stream: self._read_up_to(stream, subscription.group) for stream in streams}
            wait_for_entry(self._client, read_up_to, seconds=seconds)

    def open(self, ref: DeliveryRef) -> Delivery | None:
        _, delivery = self._open(ref, "", "", 0)
        if delivery is None or delivery.state not in {_FIRST, DeliveryState.redriven(delivery.state.attempt)}:
            return delivery
        # It may not have been checked for duplicates when it was received: the process died, or could not decode it.
        return next(iter(self._first_publications([delivery])), None)

    def begin(self, ref: DeliveryRef, *, attempt: int, lease: float) -> Delivery | None:
        # Nearly every attempt is in the state in which it was queued: then one script reads it and marks it as running.
        # If the reply is lost and the script is sent again, it recognizes its own random name.
        name = uuid4().hex
        likely = DeliveryState(attempt=attempt)
        for _ in range(2):
            has_begun, delivery = self._open(ref, likely.encode(), likely.begun(name).encode(), lease)
            if delivery and has_begun:
                return replace(delivery, state=likely.begun(name))
            if delivery is None or not delivery.state.queues(attempt):
                return None
            likely = delivery.state
        return None

    def compare_and_set_state(
        self,
        ref: DeliveryRef,
        *,
        before: DeliveryState,
        after: DeliveryState,
        lease: float,
        attempt_failure: AttemptFailure | None = None,
    ) -> bool:
        group, failure = ref.subscription.group, attempt_failure.encode() if attempt_failure else ""
        keys = (self._stream(ref), self._keys.leases(group), self._keys.progress(group))
        arguments = (group, ref.entry, ref.name, before.encode(), after.encode(), lease, failure)
        return bool(self._run("compare_and_set_state", keys, arguments))

    def renew(self, refs: Iterable[DeliveryRef], *, lease: float) -> None:
        by_group: dict[str, list[str]] = {}
        for ref in refs:
            by_group.setdefault(ref.subscription.group, []).append(ref.name)
        for group, names in by_group.items():
            self._run("renew", (self._keys.leases(group),), (lease, *names))

    def clamp_leases(self, subscription: Subscription, *, lease: float) -> int:
        leases, progress, _ = self._keys.of_group(subscription.group)
        return int(self._run("clamp_leases", (leases, progress), (lease,)))

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[DeliveryRef, DeliveryState]]:
        leases, progress, _ = self._keys.of_group(subscription.group)
        found = self._run("expired_leases", (leases, progress), (limit,))
        pairs = [(name, DeliveryState.decode(raw) if raw else _FIRST, raw) for name, raw in found]
        for name, state, raw in pairs:
            # Each step compares the stored bytes, so they have to be as this release encodes the state. A later
            # release, which was rolled back since, may have added to them.
            if raw and raw != state.encode():
                self._run("replace_key", (progress,), (name, raw, state.encode()))
        return [(DeliveryRef.named(name.decode(), subscription), state) for name, state, _ in pairs]

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        ref, effects = delivery.ref, self._gate(effects)
        keys = (self._stream(ref), *self._keys.of_group(ref.subscription.group))
        fence = (ref.subscription.group, ref.entry, ref.name, outcome_of(effects))
        also = self._known(texts_told_by(effects)) + self._note(delivery, effects)
        return self._commit(keys, fence, effects, priority=ref.priority, also=also)

    def apply(self, effects: Effects, *, priority: Priority = Priority.LIVE) -> Verdict:
        effects = self._gate(effects)
        return self._commit(("",) * 4, ("",) * 4, effects, priority=priority, also=self._known(told_by(effects)))

    def _publish(self, event: Event, priority: Priority) -> PublishReceipt:
        keys = [self._keys.stream(event.type, priority), self._keys.marker(event.id), self._keys.forgotten(event.scope)]
        if upload := self._upload_of(event):
            keys.append(upload)
        fresh, place = self._run("publish", keys, (encode(event), priority.value, self._marker_ttl, name_of(event)))
        if fresh == _FORGOTTEN:
            raise refusal(event, place)
        if fresh == _BARE:
            raise Unavailable(
                f"what was uploaded of session {event.session_id} is not on the server any more: publish it again"
            )
        lane_name, _, entry = place.decode().partition("/")
        return PublishReceipt(event.id, event.session_id, Priority(lane_name), entry, bool(fresh))

    def _take(
        self, subscription: Subscription, priority: Priority, limit: int, lease: float
    ) -> Sequence[tuple[bytes, Any]]:
        """Read new entries: the id of each, and its event, or the size of one that is too large."""
        stream = self._keys.stream(subscription.kind.type, priority)
        self._ensure_group(stream, subscription.group)
        keys = (stream, *self._keys.of_group(subscription.group))
        arguments = (subscription.group, CONSUMER, limit, priority.value, _FIRST.encode(), lease, LARGEST)
        try:
            return self._run("receive", keys, arguments)
        except GroupGone:
            self._known_groups.clear()
            raise

    def _open(self, ref: DeliveryRef, *swap: bytes | str | float) -> tuple[bool, Delivery | None]:
        """Read a delivery, and swap its state if it matches.

        *swap* is the state to replace, its replacement, and a lease in seconds. Returns whether the state was swapped,
        and the delivery.
        """
        group = ref.subscription.group
        keys = (self._stream(ref), self._keys.leases(group), self._keys.progress(group))
        found: list[Any] = self._run("load_delivery", keys, (group, ref.entry, ref.name, *swap, LARGEST))
        if not found:
            return False, None
        swapped, progress, *event = found
        if not event:
            log.error("delivery.lost", group=group, entry=ref.entry, hint=LOST)
            self.dead_letter(ref, progress=None, reason=LOST, is_readable=False)
            return False, None
        return bool(swapped), self._read(ref, event[0], DeliveryState.decode(progress))

    def _known(self, names: Iterable[tuple[Scope, str]]) -> CommitPlan:
        """Return the precondition that none of *names*, by scope, has a tombstone."""
        checks = (
            Precondition("HGET", self._keys.forgotten(scope), (name,), "") for scope, name in dict.fromkeys(names)
        )
        return CommitPlan(preconditions=tuple(checks))

    def _note(self, delivery: Delivery, effects: Effects) -> CommitPlan:
        """Return the command that stores for a while why an event was skipped, for later lookups."""
        if effects.skipped in {None, REPEATED}:  # a duplicate says nothing of its event, which has another entry
            return CommitPlan()
        key = self._keys.skipped(delivery.ref.subscription.group, delivery.event.id)
        return CommitPlan(
            commands=(RedisCommand("SET", key, (shortened(effects.skipped or ""), "EX", self._marker_ttl)),)
        )

    def _commit(
        self, keys: Sequence[str], fence: Sequence[str], effects: Effects, *, priority: Priority, also: CommitPlan
    ) -> Verdict:
        for event in effects.events:
            self._ensure_subscribers(self._keys.stream(event.type, priority), type(event))
        plan = sum((self._plan_of(write) for write in effects.writes), also)
        named, arguments = commit.encode(
            plan, effects.events, keys=self._keys, priority=priority, first_key=len(keys) + 1
        )
        wait_for(plan.waits_for, self._client)
        reply = self._run("commit", (*keys, *named), (*fence, self._marker_ttl, *arguments))
        return commit.verdict_of(reply.decode())

    def _read(self, ref: DeliveryRef, raw: bytes | int, progress: DeliveryState) -> Delivery | None:
        """Decode an entry; dead-letter it at once if it is too large or cannot be decoded."""
        try:
            if isinstance(raw, int):
                raise too_large(raw)
            event = decode(raw, type_hint=ref.subscription.kind.type, accepted_at=accepted_at(ref.entry))
        except BadInput as error:
            grave = DeadLetterKind.PARKED if isinstance(error, UnknownEvent) else DeadLetterKind.DEAD
            log.warning(
                "delivery.dead_lettered",
                group=ref.subscription.group,
                entry=ref.entry,
                kind=grave,
                reason=redacted(str(error)),
            )
            self.dead_letter(ref, progress=None, reason=str(error), grave=grave, is_readable=False)
            return None
        return Delivery(ref, event, progress)

    def _first_publications(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Return the deliveries with an event of their own; skip duplicates and erased sessions."""
        if not deliveries:
            return []
        ref = deliveries[0].ref
        events = [(each.event, each.ref) for each in deliveries]
        keys = chain.from_iterable((self._keys.marker(e.id), self._keys.forgotten(e.scope)) for e, _ in events)
        arguments = chain.from_iterable((at.entry, at.name, name_of(event)) for event, at in events)
        group = ref.subscription.group
        found = self._run("deduplicate", (self._stream(ref), *keys), (group, self._marker_ttl, *arguments))
        for delivery, status in zip(deliveries, found, strict=True):
            if reason := _SKIPPED.get(status):
                self.commit(delivery, Effects(skipped=reason))
        return [delivery for delivery, status in zip(deliveries, found, strict=True) if status == b"first"]
