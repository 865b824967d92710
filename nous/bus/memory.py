"""The bus in memory: what `nous.bus.redis` promises, without a server. For tests, and for trying things out."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from nous.bus.base import Committed, Delivery, Duplicate, Grave, Lane, Receipt, Refused, Subscription, Ticket, Verdict
from nous.bus.ledger import Account, Backlog, Letter, Location, Whereabouts
from nous.bus.letters import DROPPED, accepted_at, announcement, event_of, fields_of, letter_of
from nous.bus.memory_groups import Group, Pending, write_nothing
from nous.bus.mishaps import Fate, Mishap, noted
from nous.bus.progress import Progress, State
from nous.codec import UnknownEvent, decode, encode
from nous.effects import Effects, Write
from nous.errors import BadInput, NotFound
from nous.events import Event
from nous.scope import Scope

_FIRST = Progress()


class MemoryBus:
    """A `Bus`, a `Ledger` and `DeadLetters` in one process. *write* applies a handler's writes, all of them or none.

    *write* answers None, or the reason for its refusal. *clock* gives seconds since the epoch.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Write]], str | None] = write_nothing,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._write = write
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._streams: dict[tuple[str, Lane], dict[str, bytes]] = defaultdict(dict)
        self._markers: dict[UUID, str] = {}
        self._groups: dict[str, Group] = defaultdict(Group)
        self._letters: dict[str, Letter] = {}
        self._entries = 0

    def publish(self, *events: Event, lane: Lane = Lane.LIVE, durable: bool = False) -> Sequence[Receipt]:
        del durable  # There is no disk to wait for.
        with self._changed:
            return [self._publish(event, lane) for event in events]

    def append(self, type_: str, raw: bytes, *, lane: Lane = Lane.LIVE) -> str:
        """Put *raw* into a stream as a foreign producer would, with no marker; returns the entry's id."""
        with self._changed:
            entry = self._next_entry()
            self._streams[type_, lane][entry] = raw
            self._changed.notify_all()
            return entry

    def receive(self, subscription: Subscription, *, lane: Lane, limit: int, lease: float) -> Sequence[Delivery]:
        with self._changed:
            group = self._groups[subscription.group]
            stream = self._streams[subscription.kind.type, lane]
            offered = list(stream)[group.read[lane] : group.read[lane] + limit]
            group.read[lane] += len(offered)
            group.counts["received"] += len(offered)
            tickets = [Ticket(subscription, lane, entry) for entry in offered]
            for ticket in tickets:
                group.pending[ticket.name] = Pending(_FIRST, self._clock() + lease)
            deliveries = [self._read(ticket, _FIRST) for ticket in tickets]
            return [delivery for delivery in deliveries if delivery and self._is_first_telling(delivery)]

    def wait(self, subscription: Subscription, *, lanes: Iterable[Lane], seconds: float) -> None:
        group = self._groups[subscription.group]
        streams = [(self._streams[subscription.kind.type, lane], lane) for lane in lanes]
        with self._changed:
            self._changed.wait_for(lambda: any(len(stream) > group.read[lane] for stream, lane in streams), seconds)

    def open(self, ticket: Ticket) -> Delivery | None:
        with self._changed:
            pending = self._groups[ticket.subscription.group].pending.get(ticket.name)
            return self._read(ticket, pending.progress) if pending else None

    def begin(self, ticket: Ticket, *, attempt: int, lease: float) -> Delivery | None:
        with self._changed:
            delivery = self.open(ticket)
            if delivery is None or not delivery.progress.offers(attempt):
                return None
            begun = delivery.progress.begun(uuid4().hex)
            self.amend(ticket, before=delivery.progress, after=begun, lease=lease)
            return replace(delivery, progress=begun)

    def amend(
        self, ticket: Ticket, *, before: Progress, after: Progress, lease: float, mishap: Mishap | None = None
    ) -> bool:
        with self._changed:
            pending = self._groups[ticket.subscription.group].pending.get(ticket.name)
            if pending is None or pending.progress != before:
                return False
            pending.progress, pending.lease_ends = after, self._clock() + lease
            pending.history = noted(pending.history, mishap, self._date())
            return True

    def renew(self, tickets: Iterable[Ticket], *, lease: float) -> None:
        with self._changed:
            for ticket in tickets:
                if pending := self._groups[ticket.subscription.group].pending.get(ticket.name):
                    pending.lease_ends = max(pending.lease_ends, self._clock() + lease)

    def pull_in(self, subscription: Subscription, *, lease: float) -> int:
        with self._changed:
            ends = self._clock() + lease
            pending = self._groups[subscription.group].pending.values()
            late = [each for each in pending if each.lease_ends > ends + 1 and each.progress.state is not State.WAITING]
            for each in late:
                each.lease_ends = ends
            return len(late)

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[Ticket, Progress]]:
        with self._changed:
            now = self._clock()
            pending = self._groups[subscription.group].pending.items()
            late = sorted((each.lease_ends, name, each.progress) for name, each in pending if each.lease_ends <= now)
            return [(Ticket.named(name, subscription), progress) for _, name, progress in late[:limit]]

    def adopt(self, subscription: Subscription, *, lane: Lane) -> int:
        del subscription, lane  # Nobody else can receive from this bus.
        return 0

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        ticket = delivery.ticket
        with self._changed:
            group = self._groups[ticket.subscription.group]
            if ticket.name not in group.pending:
                return Duplicate()
            verdict = self._apply(effects, ticket.lane)
            if isinstance(verdict, Committed):
                del group.pending[ticket.name]
                group.counts[f"skipped:{effects.skipped}" if effects.skipped else "done"] += 1
                if effects.skipped:
                    group.skipped[delivery.event.id] = effects.skipped
            return verdict

    def apply(self, effects: Effects, *, lane: Lane = Lane.LIVE) -> Verdict:
        with self._changed:
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
        with self._changed:
            group = self._groups[ticket.subscription.group]
            pending = group.pending.get(ticket.name)
            if pending is None or progress not in {None, pending.progress}:
                return False
            del group.pending[ticket.name]
            group.counts[grave.value] += 1
            letter_id, event = self._next_entry(), self._peek(ticket)
            fields = fields_of(ticket, progress=progress, reason=reason, grave=grave, event=event, traceback=traceback)
            letter = letter_of(letter_id, {name: str(value) for name, value in fields.items()})
            self._letters[letter_id] = replace(letter, history=noted(pending.history, mishap, self._date()))
            if grave is Grave.DEAD:
                told = announcement(ticket, event=event, reason=letter.reason, progress=progress, at=self._date())
                self.append(told.type, encode(told))
            return True

    def disown(self, ticket: Ticket) -> bool:
        del ticket  # Nobody else can acknowledge on this bus.
        return False

    def account(self, subscription: Subscription) -> Account:
        with self._changed:
            group = self._groups[subscription.group]
            return Account.of(group.counts, in_flight=len(group.pending), leased=len(group.pending))

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        with self._changed:
            return [self._backlog(subscription, lane) for lane in Lane]

    def locate(self, event_id: UUID, subscription: Subscription) -> Location:
        with self._changed:
            place = self._markers.get(event_id)
            if place is None:
                return Location(where=Whereabouts.UNKNOWN)
            ticket = Ticket.named(place, subscription)
            where, reason = self._search(ticket, event_id)
            pending = self._groups[subscription.group].pending.get(ticket.name)
            next_try = pending.progress.next_try(pending.lease_ends) if pending else None
            return Location(where=where, ticket=ticket, reason=reason, next_try=next_try)

    def event(self, ticket: Ticket) -> Event | None:
        with self._changed:
            return self._peek(ticket)

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        with self._changed:
            subscription = Subscription("", kind)
            tickets = [Ticket(subscription, lane, entry) for lane in Lane for entry in self._streams[kind.type, lane]]
            events = [event for ticket in tickets if (event := self._peek(ticket))]
            return list(dict.fromkeys(e.id for e in events if (e.session_id, e.scope) == (session_id, scope)))

    def _search(self, ticket: Ticket, event_id: UUID) -> tuple[Whereabouts, str]:
        group = self._groups[ticket.subscription.group]
        position = list(self._streams[ticket.subscription.kind.type, ticket.lane]).index(ticket.entry)
        if position >= group.read[ticket.lane]:
            return Whereabouts.WAITING, ""
        if pending := group.pending.get(ticket.name):
            return Whereabouts.IN_FLIGHT, pending.progress.in_words
        if reason := group.skipped.get(event_id):
            return Whereabouts.SKIPPED, reason
        for letter in self._letters.values():
            if letter.is_about(ticket):
                return Whereabouts(letter.grave.value), letter.reason
        return Whereabouts.DONE, ""

    def letters(self, *, limit: int | None = None) -> Sequence[Letter]:
        with self._changed:
            return list(self._letters.values())[:limit]

    def count(self) -> int:
        return len(self._letters)

    def payload(self, letter: Letter) -> bytes | None:
        with self._changed:
            return self._streams[letter.kind, letter.lane].get(letter.entry)

    def find(self, letter_id: str) -> Letter:
        with self._changed:
            if letter_id not in self._letters:
                raise NotFound(f"there is no dead letter {letter_id}")
            return self._letters[letter_id]

    def redrive(self, letter: Letter, subscription: Subscription) -> bool:
        with self._changed:
            if self._letters.pop(letter.id, None) is None:
                return False
            group = self._groups[subscription.group]
            history = noted(letter.history, Mishap(fate=Fate.REDRIVEN, attempt=letter.attempts), self._date())
            pending = Pending(Progress.redriven(letter.attempts), self._clock(), history)
            group.pending[f"{letter.lane}/{letter.entry}"] = pending
            group.counts[letter.grave.value] -= 1
            return True

    def drop(self, letter: Letter) -> bool:
        with self._changed:
            if letter.event_id:
                self._groups[letter.group].skipped[UUID(letter.event_id)] = f"{DROPPED}; {letter.reason}"
            return self._letters.pop(letter.id, None) is not None

    def _publish(self, event: Event, lane: Lane) -> Receipt:
        fresh = event.id not in self._markers
        if fresh:
            entry = self.append(event.type, encode(event), lane=lane)
            self._markers[event.id] = f"{lane}/{entry}"
        known_lane, _, entry = self._markers[event.id].partition("/")
        return Receipt(event.id, Lane(known_lane), entry, fresh)

    def _apply(self, effects: Effects, lane: Lane) -> Verdict:
        refusal = self._write(effects.writes)
        if refusal is not None:
            return Refused(refusal)
        for event in effects.events:
            self._publish(event, lane)
        return Committed()

    def _read(self, ticket: Ticket, progress: Progress) -> Delivery | None:
        raw = self._streams[ticket.subscription.kind.type, ticket.lane][ticket.entry]
        try:
            event = decode(raw, type_hint=ticket.subscription.kind.type, accepted_at=accepted_at(ticket.entry))
        except BadInput as error:
            grave = Grave.PARKED if isinstance(error, UnknownEvent) else Grave.DEAD
            self.bury(ticket, progress=None, reason=str(error), grave=grave)
            return None
        return Delivery(ticket, event, progress)

    def _is_first_telling(self, delivery: Delivery) -> bool:
        place = delivery.ticket.name
        if self._markers.setdefault(delivery.event.id, place) == place:
            return True
        self.commit(delivery, Effects(skipped="published twice"))
        return False

    def _peek(self, ticket: Ticket) -> Event | None:
        return event_of(self._streams[ticket.subscription.kind.type, ticket.lane].get(ticket.entry), ticket)

    def _backlog(self, subscription: Subscription, lane: Lane) -> Backlog:
        group = self._groups[subscription.group]
        length = len(self._streams[subscription.kind.type, lane])
        pending = [Ticket.named(name, subscription).entry for name in group.pending if name.startswith(f"{lane}/")]
        return Backlog(
            lane=lane,
            length=length,
            waiting=length - group.read[lane],
            pending=len(pending),
            oldest_pending=min((accepted_at(entry) for entry in pending), default=None),
        )

    def _date(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _next_entry(self) -> str:
        self._entries += 1
        return f"{int(self._clock() * 1000)}-{self._entries}"
