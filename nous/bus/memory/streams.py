"""In-memory event streams: append, trim, count, locate events, redrive dead letters."""

import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

from nous.bus.accounting import Backlog, DeadLetter, EventLocation, EventStatus, GroupCounters
from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import accepted_at, dropped, event_of
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState, append_failure
from nous.domain.errors import NotFound
from nous.domain.event_codec import LARGEST
from nous.domain.events import Event
from nous.domain.scope import Scope

Place = tuple[str, Priority]
"""A stream: the type and the priority of its events."""


@dataclass(slots=True)
class Pending:
    """A delivery that is not over, with its failure history."""

    progress: DeliveryState
    lease_ends: float
    history: tuple[AttemptFailure, ...] = ()


@dataclass(slots=True)
class MemoryGroup:
    """One consumer group: its position in each stream, pending deliveries and counters."""

    read: Counter[Place] = field(default_factory=Counter[Place])
    pending: dict[str, Pending] = field(default_factory=dict[str, Pending])
    counts: Counter[str] = field(default_factory=Counter[str])
    skipped: dict[UUID, str] = field(default_factory=dict[UUID, str])


def at_rest(
    stream: Iterable[str], place: Place, readers: Sequence[MemoryGroup], letters: Iterable[DeadLetter], before: float
) -> list[str]:
    """Return the entries of *stream* accepted *before* that can be trimmed."""
    # The last entry that a group has read stays, as on a server, which needs it to count the waiting ones.
    read = islice(stream, min((max(group.read[place] - 1, 0) for group in readers), default=sys.maxsize))
    kind, priority = place
    lettered = {letter.entry for letter in letters if (letter.kind, letter.priority) == (kind, priority)}
    pending = {name for group in readers for name in group.pending}
    old = (entry for entry in read if accepted_at(entry).timestamp() <= before)
    return [entry for entry in old if entry not in lettered and f"{priority}/{entry}" not in pending]


def place_of(ref: DeliveryRef) -> Place:
    """Return the stream that holds the entry of *ref*."""
    return ref.subscription.kind.type, ref.priority


class MemoryStreams:
    """In-memory streams with counters, dead letters and trimming, for `MemoryBus`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._streams: dict[Place, dict[str, bytes]] = defaultdict(dict)
        self._markers: dict[UUID, str] = {}
        self._groups: dict[str, MemoryGroup] = defaultdict(MemoryGroup)
        self._letters: dict[str, DeadLetter] = {}
        self._entries = 0

    def append(self, type_: str, raw: bytes, *, priority: Priority = Priority.LIVE) -> str:
        """Append *raw* like a foreign producer, without an idempotency key; return the entry id."""
        with self._changed:
            entry = self._next_entry()
            self._streams[type_, priority][entry] = raw
            self._changed.notify_all()
            return entry

    def counters(self, subscription: Subscription) -> GroupCounters:
        with self._changed:
            group = self._groups[subscription.group]
            return GroupCounters.of(group.counts, in_flight=len(group.pending))

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        with self._changed:
            return [self._backlog(subscription, priority) for priority in Priority]

    def locate(self, event_id: UUID, subscription: Subscription) -> EventLocation:
        with self._changed:
            name = self._markers.get(event_id)
            if name is None:
                return EventLocation(where=EventStatus.UNKNOWN)
            ref = DeliveryRef.named(name, subscription)
            where, reason = self._search(ref, event_id)
            pending = self._groups[subscription.group].pending.get(ref.name)
            next_try = pending.progress.next_try(pending.lease_ends) if pending else None
            return EventLocation(where=where, ref=ref, reason=reason, next_try=next_try)

    def event(self, ref: DeliveryRef) -> Event | None:
        with self._changed:
            return event_of(self._streams[place_of(ref)].get(ref.entry), ref)

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        subscription = Subscription("", kind)
        with self._changed:
            refs = [
                DeliveryRef(subscription, priority, each)
                for priority in Priority
                for each in self._streams[kind.type, priority]
            ]
            events = [event for ref in refs if (event := self.event(ref))]
            return list(dict.fromkeys(e.id for e in events if (e.session_id, e.scope) == (session_id, scope)))

    def letters(self) -> Sequence[DeadLetter]:
        return list(self.each())

    def each(self) -> Iterator[DeadLetter]:
        with self._changed:
            current = tuple(self._letters.values())
        yield from current

    def count(self) -> int:
        return len(self._letters)

    def payload(self, letter: DeadLetter) -> bytes | int | None:
        with self._changed:
            raw = self._streams[letter.kind, letter.priority].get(letter.entry)
        return len(raw) if raw and len(raw) > LARGEST else raw

    def find(self, letter_id: str) -> DeadLetter:
        with self._changed:
            if letter_id not in self._letters:
                raise NotFound(f"there is no dead letter {letter_id}")
            return self._letters[letter_id]

    def redrive(self, letter: DeadLetter, subscription: Subscription) -> bool:
        with self._changed:
            if self._letters.pop(letter.id, None) is None:
                return False
            group = self._groups[subscription.group]
            history = append_failure(
                letter.history, AttemptFailure(fate=AttemptOutcome.REDRIVEN, attempt=letter.attempts), self._date
            )
            pending = Pending(DeliveryState.redriven(letter.attempts), self._clock(), history)
            group.pending[f"{letter.priority}/{letter.entry}"] = pending
            group.counts[letter.letter_kind.value] -= 1
            return True

    def drop(self, letter: DeadLetter) -> bool:
        with self._changed:
            if self._letters.pop(letter.id, None) is None:
                return False
            if letter.event_id:
                self._groups[letter.group].skipped[UUID(letter.event_id)] = dropped(letter)
            return True

    def trim(self, kind: type[Event], *, priority: Priority, keep: float) -> Iterator[int]:
        with self._changed:
            place, before = (kind.type, priority), self._clock() - keep
            readers = [group for group in self._groups.values() if place in group.read]
            gone = at_rest(self._streams[place], place, readers, self._letters.values(), before)
            for entry in gone:
                del self._streams[place][entry]
            for group in readers:
                group.read[place] -= len(gone)
        yield len(gone)

    def _search(self, ref: DeliveryRef, event_id: UUID) -> tuple[EventStatus, str]:
        group = self._groups[ref.subscription.group]
        place = place_of(ref)
        if reason := group.skipped.get(event_id):
            return EventStatus.SKIPPED, reason
        if ref.entry not in self._streams[place]:  # the event is of another kind, or was trimmed
            return EventStatus.UNKNOWN, ""
        if list(self._streams[place]).index(ref.entry) >= group.read[place]:
            return EventStatus.WAITING, ""
        if pending := group.pending.get(ref.name):
            return EventStatus.IN_FLIGHT, pending.progress.in_words
        for letter in self._letters.values():
            if letter.is_about(ref):
                return EventStatus(letter.letter_kind.value), letter.reason
        return EventStatus.DONE, ""

    def _backlog(self, subscription: Subscription, priority: Priority) -> Backlog:
        group, place = self._groups[subscription.group], (subscription.kind.type, priority)
        length = len(self._streams[place])
        pending = [
            DeliveryRef.named(name, subscription).entry for name in group.pending if name.startswith(f"{priority}/")
        ]
        return Backlog(
            priority=priority,
            length=length,
            waiting=length - group.read[place],
            pending=len(pending),
            oldest_pending=min((accepted_at(entry) for entry in pending), default=None),
        )

    @property
    def _date(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _next_entry(self) -> str:
        """Return an id that no entry and no dead letter has."""
        self._entries += 1
        return f"{int(self._clock() * 1000)}-{self._entries}"
