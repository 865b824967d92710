"""What a bus in memory holds: its streams, its groups and its letters, under one lock."""

import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from nous.bus.base import Subscription, Ticket
from nous.bus.ledger import Letter
from nous.bus.letters import event_of
from nous.bus.memory_groups import Group, Place
from nous.events import Event


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
