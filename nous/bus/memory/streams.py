"""What a bus in memory holds: its streams, its groups and its letters, under one lock."""

import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

from nous.bus.accounting import MOST_COUNTERS, OTHERS, SKIPPED, Account, Backlog, Letter, Location, Whereabouts
from nous.bus.base import Lane, Subscription, Ticket
from nous.bus.dead_letter import accepted_at, dropped, event_of
from nous.bus.delivery_state import Fate, Mishap, Progress, noted
from nous.domain.effects import Write
from nous.domain.errors import NotFound
from nous.domain.event_codec import LARGEST
from nous.domain.events import Event
from nous.domain.scope import Scope

_REMEMBERED = 3600.0

Place = tuple[str, Lane]
"""A stream: the type of its events, and its lane."""


@dataclass(slots=True)
class Pending:
    """A delivery that was offered and is not over, and what went wrong with it."""

    progress: Progress
    lease_ends: float
    history: tuple[Mishap, ...] = ()


@dataclass(slots=True)
class Group:
    """What one group was offered: how far it has read each stream, what is pending, and what became of the rest."""

    read: Counter[Place] = field(default_factory=Counter[Place])
    pending: dict[str, Pending] = field(default_factory=dict[str, Pending])
    counts: Counter[str] = field(default_factory=Counter[str])
    skipped: dict[UUID, str] = field(default_factory=dict[UUID, str])
    longest: float = 0.0
    longest_until: float = 0.0

    def count(self, outcome: str) -> None:
        """Move a counter; of reasons for skipping, there are no more than `MOST_COUNTERS` leave room for."""
        is_one_more = len(self.counts) >= MOST_COUNTERS and outcome not in self.counts
        self.counts[OTHERS if is_one_more and outcome.startswith(SKIPPED) else outcome] += 1

    def longest_lease(self, told: float, now: float) -> float:
        """The longest that was *told* within an hour before *now*, this one then included. All in seconds."""
        if told >= self.longest or now >= self.longest_until:
            self.longest, self.longest_until = told, now + _REMEMBERED
        return self.longest


def write_nothing(_: Sequence[Write]) -> str | None:
    """Stands for a store where none is needed."""
    return None


def at_rest(
    stream: Iterable[str], place: Place, readers: Sequence[Group], letters: Iterable[Letter], before: float
) -> list[str]:
    """The entries of *stream* that came *before* and that nobody comes back to (see `nous.bus.accounting`)."""
    # Their last one stays, as with a server, which needs it.
    read = islice(stream, min((max(group.read[place] - 1, 0) for group in readers), default=sys.maxsize))
    kind, lane = place
    lettered = {letter.entry for letter in letters if (letter.kind, letter.lane) == (kind, lane)}
    pending = {name for group in readers for name in group.pending}
    old = (entry for entry in read if accepted_at(entry).timestamp() <= before)
    return [entry for entry in old if entry not in lettered and f"{lane}/{entry}" not in pending]


class MemoryLog:
    """What stands in each stream, and what is kept beside it. *clock* gives seconds since the epoch.

    Whoever reads or changes any of it holds *changed*; the methods here do so themselves.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.changed = threading.Condition(threading.RLock())
        self.streams: dict[Place, dict[str, bytes]] = defaultdict(dict)
        self.markers: dict[UUID, str] = {}
        self.groups: dict[str, Group] = defaultdict(Group)
        self.letters: dict[str, Letter] = {}
        self._entries = 0

    @property
    def date(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)

    def append(self, place: Place, raw: bytes) -> str:
        """Put *raw* at the end of a stream, and wake who waits for it; returns the entry's id."""
        with self.changed:
            entry = self.next_entry()
            self.streams[place][entry] = raw
            self.changed.notify_all()
            return entry

    def peek(self, ticket: Ticket) -> Event | None:
        """The event behind a ticket, if it is there and can be read."""
        with self.changed:
            return event_of(self.streams[place_of(ticket)].get(ticket.entry), ticket)

    def may_be_read(self, event: Event) -> bool:
        """Whether somebody may still come to *event*; of one that stands nowhere, nobody can tell."""
        with self.changed:
            name = self.markers.get(event.id)
            if name is None:
                return True
            ticket = Ticket.named(name, Subscription("", type(event)))
            place = place_of(ticket)
            before = list(self.streams[place])
            readers = [group for group in self.groups.values() if place in group.read]
            if ticket.entry not in before:
                return False
            is_offered = all(group.read[place] > before.index(ticket.entry) for group in readers)
            is_pending = any(name in group.pending for group in readers)
            is_set_aside = any((each.lane, each.entry) == (ticket.lane, ticket.entry) for each in self.letters.values())
            return not readers or not is_offered or is_pending or is_set_aside

    def next_entry(self) -> str:
        """An id that no entry and no letter has."""
        with self.changed:
            self._entries += 1
            return f"{int(self.clock() * 1000)}-{self._entries}"


def place_of(ticket: Ticket) -> Place:
    """The stream that a ticket's entry stands in."""
    return ticket.subscription.kind.type, ticket.lane


class MemoryBooks:
    """A `Ledger`, `DeadLetters` and `Trimming` over what *log* holds."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    def account(self, subscription: Subscription) -> Account:
        with self._log.changed:
            group = self._log.groups[subscription.group]
            return Account.of(group.counts, in_flight=len(group.pending), leased=len(group.pending))

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        with self._log.changed:
            return [self._backlog(subscription, lane) for lane in Lane]

    def locate(self, event_id: UUID, subscription: Subscription) -> Location:
        with self._log.changed:
            name = self._log.markers.get(event_id)
            if name is None:
                return Location(where=Whereabouts.UNKNOWN)
            ticket = Ticket.named(name, subscription)
            where, reason = self._search(ticket, event_id)
            pending = self._log.groups[subscription.group].pending.get(ticket.name)
            next_try = pending.progress.next_try(pending.lease_ends) if pending else None
            return Location(where=where, ticket=ticket, reason=reason, next_try=next_try)

    def event(self, ticket: Ticket) -> Event | None:
        return self._log.peek(ticket)

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        subscription = Subscription("", kind)
        with self._log.changed:
            tickets = [Ticket(subscription, lane, each) for lane in Lane for each in self._log.streams[kind.type, lane]]
            events = [event for ticket in tickets if (event := self._log.peek(ticket))]
            return list(dict.fromkeys(e.id for e in events if (e.session_id, e.scope) == (session_id, scope)))

    def letters(self, *, limit: int | None = None) -> Sequence[Letter]:
        with self._log.changed:
            return list(self._log.letters.values())[:limit]

    def each(self) -> Iterator[Letter]:
        with self._log.changed:
            standing = tuple(self._log.letters.values())
        yield from standing

    def count(self) -> int:
        return len(self._log.letters)

    def payload(self, letter: Letter) -> bytes | int | None:
        with self._log.changed:
            raw = self._log.streams[letter.kind, letter.lane].get(letter.entry)
        return len(raw) if raw and len(raw) > LARGEST else raw

    def find(self, letter_id: str) -> Letter:
        with self._log.changed:
            if letter_id not in self._log.letters:
                raise NotFound(f"there is no dead letter {letter_id}")
            return self._log.letters[letter_id]

    def redrive(self, letter: Letter, subscription: Subscription) -> bool:
        with self._log.changed:
            if self._log.letters.pop(letter.id, None) is None:
                return False
            group = self._log.groups[subscription.group]
            history = noted(letter.history, Mishap(fate=Fate.REDRIVEN, attempt=letter.attempts), self._log.date)
            pending = Pending(Progress.redriven(letter.attempts), self._log.clock(), history)
            group.pending[f"{letter.lane}/{letter.entry}"] = pending
            group.counts[letter.grave.value] -= 1
            return True

    def drop(self, letter: Letter) -> bool:
        with self._log.changed:
            if self._log.letters.pop(letter.id, None) is None:
                return False
            if letter.event_id:
                self._log.groups[letter.group].skipped[UUID(letter.event_id)] = dropped(letter)
            return True

    def trim(self, kind: type[Event], *, lane: Lane, keep: float) -> Iterator[int]:
        with self._log.changed:
            place, before = (kind.type, lane), self._log.clock() - keep
            readers = [group for group in self._log.groups.values() if place in group.read]
            gone = at_rest(self._log.streams[place], place, readers, self._log.letters.values(), before)
            for entry in gone:
                del self._log.streams[place][entry]
            for group in readers:
                group.read[place] -= len(gone)
        yield len(gone)

    def _search(self, ticket: Ticket, event_id: UUID) -> tuple[Whereabouts, str]:
        group = self._log.groups[ticket.subscription.group]
        place = place_of(ticket)
        if reason := group.skipped.get(event_id):
            return Whereabouts.SKIPPED, reason
        if ticket.entry not in self._log.streams[place]:  # the event is of another kind, or was trimmed
            return Whereabouts.UNKNOWN, ""
        if list(self._log.streams[place]).index(ticket.entry) >= group.read[place]:
            return Whereabouts.WAITING, ""
        if pending := group.pending.get(ticket.name):
            return Whereabouts.IN_FLIGHT, pending.progress.in_words
        for letter in self._log.letters.values():
            if letter.is_about(ticket):
                return Whereabouts(letter.grave.value), letter.reason
        return Whereabouts.DONE, ""

    def _backlog(self, subscription: Subscription, lane: Lane) -> Backlog:
        group, place = self._log.groups[subscription.group], (subscription.kind.type, lane)
        length = len(self._log.streams[place])
        pending = [Ticket.named(name, subscription).entry for name in group.pending if name.startswith(f"{lane}/")]
        return Backlog(
            lane=lane,
            length=length,
            waiting=length - group.read[place],
            pending=len(pending),
            oldest_pending=min((accepted_at(entry) for entry in pending), default=None),
        )
