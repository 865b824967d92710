"""The books of the bus in memory: what became of everything, what was set aside, and what has stayed long enough."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from nous.bus.base import Lane, Subscription, Ticket
from nous.bus.ledger import Account, Backlog, Letter, Location, Whereabouts
from nous.bus.letters import accepted_at, dropped
from nous.bus.memory_groups import Pending, at_rest
from nous.bus.memory_log import MemoryLog, place_of
from nous.bus.mishaps import Fate, Mishap, noted
from nous.bus.progress import Progress
from nous.codec import LARGEST
from nous.errors import NotFound
from nous.events import Event
from nous.scope import Scope


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
