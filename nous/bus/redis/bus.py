"""The bus on Redis Streams: the stream is the ledger, and what a group has pending is not done yet.

Every write is one script that may be sent twice: redis-py re-sends a command whose reply was lost. The keys are listed
in `nous.bus.redis.keys`, the scripts in `nous/bus/redis/scripts`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any
from uuid import uuid4

import redis
import structlog

from nous.bus.accounting import outcome_of
from nous.bus.base import READ_ON, REPEATED, Delivery, Grave, Lane, Receipt, Subscription, Ticket, Verdict
from nous.bus.dead_letter import accepted_at
from nous.bus.delivery_state import Mishap, Progress
from nous.bus.redis import commit
from nous.bus.redis.blocking import wait_for, wait_for_entry
from nous.bus.redis.commit import Check, Command, Plan
from nous.bus.redis.consumer_groups import Groups, overdue
from nous.bus.redis.dead_lettering import LOST, RedisBurial
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.publisher import RedisPublishing
from nous.bus.tombstones import FORGOTTEN, name_of, texts_told_by, told_by
from nous.domain.effects import Effects, Write
from nous.domain.errors import BadInput, Fatal
from nous.domain.event_codec import LARGEST, UnknownEvent, decode, too_large
from nous.domain.events import Event
from nous.domain.scope import Scope
from nous.redaction.error_text import redacted
from nous.redis_support.errors import GroupGone, translated
from nous.redis_support.scripts import Scripts
from nous.text.sanitize import shortened

CONSUMER = "nous"
"""One name for every process: a delivery belongs to its group, and XGROUP DELCONSUMER would drop what is pending."""
_FIRST = Progress()
_SKIPPED = {b"repeated": REPEATED, b"forgotten": FORGOTTEN}
_WEEK = 7 * 24 * 3600

log = structlog.get_logger(__name__)


class RedisBus:
    """A `Bus` on one Redis primary. *plan_of* turns a handler's write into checks and commands for the commit.

    *subscriptions* are groups that `publish` creates, so that a producer that is there first loses nothing to them and
    autoscalers find them. *upload_of* names the key of what was uploaded for an event, if anything was.
    *clock* replaces the server's time (seconds since the epoch), for tests.
    """

    def __init__(
        self,
        client: redis.Redis,
        *,
        plan_of: Callable[[Write], Plan],
        keys: BusKeys | None = None,
        subscriptions: Sequence[Subscription] = (),
        upload_of: Callable[[Event], str | None] = lambda _: None,
        marker_ttl: int = _WEEK,
        clock: Callable[[], float] | None = None,
    ) -> None:
        # redis-py types its answers for both colours and both protocols at once; ours are narrowed where they enter.
        self._client: Any = client
        self._run = Scripts(client, clock, package="nous.bus.redis")
        self._plan_of = plan_of
        self._keys = keys or BusKeys()
        self._marker_ttl = marker_ttl
        self._burial = RedisBurial(client, self._keys, self._run)
        self._cursors: dict[tuple[str, Lane], str] = {}
        self._beyond: dict[str, int] = {}
        self._groups = Groups(client, subscriptions)
        self._publishing = RedisPublishing(
            client, self._keys, self._run, self._groups, upload_of=upload_of, marker_ttl=marker_ttl
        )

    def publish(self, *events: Event, lane: Lane = Lane.LIVE, durable: bool = False) -> Sequence[Receipt]:
        return self._publishing.publish(*events, lane=lane, durable=durable)

    def release(self, event: Event) -> bool:
        return self._publishing.release(event)

    def receive(self, subscription: Subscription, *, lane: Lane, limit: int, lease: float) -> Sequence[Delivery]:
        # What is set aside frees its place: somebody who is offered nothing waits, and there may be more to read.
        for _ in range(READ_ON):
            entries = self._take(subscription, lane, limit, lease)
            deliveries = [self._read(Ticket(subscription, lane, entry.decode()), raw, _FIRST) for entry, raw in entries]
            first = self._first_tellings([delivery for delivery in deliveries if delivery])
            if first or not entries:
                return first
        return ()

    def wait(self, subscription: Subscription, *, lanes: Iterable[Lane], seconds: float) -> None:
        # From what the group has read, not from "$": an event that came since the last look must not be waited past.
        streams = [self._keys.stream(subscription.kind.type, lane) for lane in lanes]
        with translated():
            read_up_to = {stream: self._groups.read_up_to(stream, subscription.group) for stream in streams}
            wait_for_entry(self._client, read_up_to, seconds=seconds, ahead=partial(self._run, "ahead"))

    def open(self, ticket: Ticket) -> Delivery | None:
        _, delivery = self._open(ticket, "", "", 0)
        if delivery is None or delivery.progress not in {_FIRST, Progress.redriven(delivery.progress.attempt)}:
            return delivery
        # Whoever received it may not have come to ask what it tells: he died, could not read it, or was no bus.
        return next(iter(self._first_tellings([delivery])), None)

    def begin(self, ticket: Ticket, *, attempt: int, lease: float) -> Delivery | None:
        # Nearly every attempt stands as it was first offered: then one script opens it and notes that it runs. If its
        # reply is lost and the script sent again, it finds the name that nobody else can have made up.
        name = uuid4().hex
        likely = Progress(attempt=attempt)
        for _ in range(2):
            has_begun, delivery = self._open(ticket, likely.encode(), likely.begun(name).encode(), lease)
            if delivery and has_begun:
                return replace(delivery, progress=likely.begun(name))
            if delivery is None or not delivery.progress.offers(attempt):
                return None
            likely = delivery.progress
        return None

    def amend(
        self, ticket: Ticket, *, before: Progress, after: Progress, lease: float, mishap: Mishap | None = None
    ) -> bool:
        group, noted = ticket.subscription.group, mishap.encode() if mishap else ""
        keys = (self._stream(ticket), self._keys.leases(group), self._keys.progress(group))
        arguments = (group, ticket.entry, ticket.name, before.encode(), after.encode(), lease, noted)
        return bool(self._run("amend", keys, arguments))

    def renew(self, tickets: Iterable[Ticket], *, lease: float) -> None:
        by_group: dict[str, list[str]] = {}
        for ticket in tickets:
            by_group.setdefault(ticket.subscription.group, []).append(ticket.name)
        troubles: list[Fatal] = []
        for group, names in by_group.items():
            try:
                self._run("renew", (self._keys.leases(group),), (lease, *names))
            except Fatal as trouble:  # somebody has spoilt the leases of that group: those of the others go on
                troubles.append(trouble)
        if troubles:
            raise troubles[0]

    def pull_in(self, subscription: Subscription, *, lease: float) -> int:
        group = subscription.group
        keys = (self._keys.leases(group), self._keys.progress(group), self._keys.longest_lease(group))
        pulled, self._beyond[group] = self._run("pull_in", keys, (lease, self._beyond.get(group, 0)))
        return int(pulled)

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[Ticket, Progress]]:
        return overdue(self._run, self._keys, subscription, limit=limit)

    def adopt(self, subscription: Subscription, *, lane: Lane) -> int:
        stream, group = self._keys.stream(subscription.kind.type, lane), subscription.group
        self._groups.ensure(stream, group)
        cursor = self._cursors.get((group, lane), "0-0")
        cursor, adopted, lost, mended = self._run(
            "adopt",
            (stream, *self._group_keys(group)),
            (group, CONSUMER, cursor, lane.value, _FIRST.encode()),
        )
        # The cursor is kept from call to call: beginning at 0-0 each time would never reach the end of a long list.
        self._cursors[group, lane] = cursor.decode()
        if mended:
            log.error("leases or progress of events were gone: they are tried again", group=group, events=mended)
        if lost:
            log.error("events were lost: their entries were deleted while pending", group=group, lost=len(lost))
        for entry in lost:
            self._burial.disown(Ticket(subscription, lane, entry.decode()), reason=LOST)
        return int(adopted)

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        ticket = delivery.ticket
        keys = (self._stream(ticket), *self._group_keys(ticket.subscription.group))
        fence = (ticket.subscription.group, ticket.entry, ticket.name, outcome_of(effects))
        also = self._known(texts_told_by(effects)) + self._note(delivery, effects)
        return self._commit(keys, fence, effects, lane=ticket.lane, also=also)

    def apply(self, effects: Effects, *, lane: Lane = Lane.LIVE) -> Verdict:
        return self._commit(("",) * 4, ("",) * 4, effects, lane=lane, also=self._known(told_by(effects)))

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
        return self._burial.bury(
            ticket, progress=progress, reason=reason, grave=grave, mishap=mishap, traceback=traceback
        )

    def disown(self, ticket: Ticket) -> bool:
        return self._burial.disown(ticket)

    def _take(self, subscription: Subscription, lane: Lane, limit: int, lease: float) -> Sequence[tuple[bytes, Any]]:
        """Take new entries: the id of each, and its event, or how large it is if that is too large."""
        stream = self._keys.stream(subscription.kind.type, lane)
        self._groups.ensure(stream, subscription.group)
        keys = (stream, *self._group_keys(subscription.group))
        arguments = (subscription.group, CONSUMER, limit, lane.value, _FIRST.encode(), lease, LARGEST)
        try:
            return self._run("receive", keys, arguments)
        except GroupGone:
            self._groups.forget()
            raise

    def _open(self, ticket: Ticket, *swap: bytes | str | float) -> tuple[bool, Delivery | None]:
        """Read a delivery as it stands, and *swap* its progress: which one, for which, with what lease.

        Returns whether it was swapped as well.
        """
        group = ticket.subscription.group
        keys = (self._stream(ticket), self._keys.leases(group), self._keys.progress(group))
        found: list[Any] = self._run("open", keys, (group, ticket.entry, ticket.name, *swap, LARGEST))
        if not found:
            return False, None
        swapped, progress, *event = found
        if not event:
            self._burial.set_aside(ticket, reason=LOST, grave=Grave.DEAD)
            return False, None
        return bool(swapped), self._read(ticket, event[0], Progress.decode(progress))

    def _known(self, names: Iterable[tuple[Scope, str]]) -> Plan:
        """Go on if nothing of *names*, by scope, was forgotten."""
        checks = (Check("HGET", self._keys.forgotten(scope), (name,), "") for scope, name in dict.fromkeys(names))
        return Plan(checks=tuple(checks))

    def _note(self, delivery: Delivery, effects: Effects) -> Plan:
        """Remember for a while why an event was skipped, for whoever asks after its session."""
        if effects.skipped in {None, REPEATED}:  # a repetition is no news of its event, which has another entry
            return Plan()
        key = self._keys.skipped(delivery.ticket.subscription.group, delivery.event.id)
        return Plan(commands=(Command("SET", key, (shortened(effects.skipped or ""), "EX", self._marker_ttl)),))

    def _commit(
        self, keys: Sequence[str], fence: Sequence[str], effects: Effects, *, lane: Lane, also: Plan
    ) -> Verdict:
        for event in effects.events:
            self._groups.ensure_subscribers(self._keys.stream(event.type, lane), type(event))
        plan = sum((self._plan_of(write) for write in effects.writes), also)
        call = commit.encode(plan, effects.events, keys=self._keys, lane=lane, first_key=len(keys) + 1)
        wait_for(plan.waits_for, self._client)
        reply = self._run("commit", (*keys, *call.keys), (*fence, self._marker_ttl, *call.arguments))
        return commit.verdict_of(reply.decode())

    def _read(self, ticket: Ticket, raw: bytes | int, progress: Progress) -> Delivery | None:
        """Decode an entry, or its size alone; what cannot be decoded is set aside at once, with the reason."""
        try:
            if isinstance(raw, int):
                raise too_large(raw)
            event = decode(raw, type_hint=ticket.subscription.kind.type, accepted_at=accepted_at(ticket.entry))
        except BadInput as error:
            grave = Grave.PARKED if isinstance(error, UnknownEvent) else Grave.DEAD
            log.warning(
                "set aside",
                group=ticket.subscription.group,
                entry=ticket.entry,
                grave=grave,
                reason=redacted(str(error)),
            )
            self._burial.set_aside(ticket, reason=str(error), grave=grave)
            return None
        return Delivery(ticket, event, progress)

    def _first_tellings(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Those that no other entry told before; what a foreign producer repeats, or may not tell, ends here."""
        if not deliveries:
            return []
        ticket = deliveries[0].ticket
        events = [(each.event, each.ticket) for each in deliveries]
        keys = chain.from_iterable((self._keys.marker(e.id), self._keys.forgotten(e.scope)) for e, _ in events)
        words = chain.from_iterable((at.entry, at.name, name_of(event)) for event, at in events)
        group = ticket.subscription.group
        found = self._run("tell", (self._stream(ticket), *keys), (group, self._marker_ttl, *words))
        for delivery, said in zip(deliveries, found, strict=True):
            if reason := _SKIPPED.get(said):
                self.commit(delivery, Effects(skipped=reason))
        return [delivery for delivery, said in zip(deliveries, found, strict=True) if said == b"first"]

    def _stream(self, ticket: Ticket) -> str:
        return self._keys.stream(ticket.subscription.kind.type, ticket.lane)

    def _group_keys(self, group: str) -> tuple[str, str, str]:
        return self._keys.leases(group), self._keys.progress(group), self._keys.account(group)
