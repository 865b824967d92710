"""What a bus is to do, in so few words that one can see that it is right: no leases to end, no server, no bytes."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from uuid import UUID

from nous.bus.accounting import EventStatus
from nous.bus.base import REPEATED, DeadLetterKind, Priority
from nous.bus.dead_letter import DROPPED
from nous.bus.delivery_state import DeliveryState


@dataclass(eq=False, slots=True)
class Entry:
    """One telling of an event in a stream. *grave* is where it ends at once, if nobody can read it."""

    priority: Priority
    event: UUID | None
    grave: DeadLetterKind | None = None
    is_gone: bool = False
    names: list[str] = field(default_factory=list[str])
    """What each of the buses calls it."""


@dataclass(slots=True)
class Held:
    """A delivery that is pending."""

    progress: DeliveryState
    lease_ends: float


@dataclass(eq=False, slots=True)
class Note:
    """A letter."""

    group: str
    entry: Entry
    grave: DeadLetterKind
    attempts: int


@dataclass(slots=True)
class Reader:
    """A group: how far it has read, what it has pending, what it has skipped, and its account."""

    read: dict[Priority, int] = field(default_factory=dict[Priority, int])
    pending: dict[Entry, Held] = field(default_factory=dict[Entry, Held])
    skipped: dict[UUID, str] = field(default_factory=dict[UUID, str])
    counts: Counter[str] = field(default_factory=Counter[str])


class Model:
    """The streams of one kind of event, and its groups."""

    def __init__(self) -> None:
        self.now = 0.0
        self.streams: dict[Priority, list[Entry]] = {priority: [] for priority in Priority}
        self.places: dict[UUID, Entry] = {}
        self.readers: dict[str, Reader] = defaultdict(Reader)
        self.letters: list[Note] = []

    def append(self, priority: Priority, event: UUID | None, grave: DeadLetterKind | None = None) -> Entry:
        entry = Entry(priority, event, grave)
        self.streams[priority].append(entry)
        return entry

    def publish(self, event: UUID, priority: Priority) -> tuple[Entry, bool]:
        """Where the event stands, and whether it is new."""
        is_new = event not in self.places
        if is_new:
            self.places[event] = self.append(priority, event)
        return self.places[event], is_new

    def join(self, group: str, priority: Priority) -> None:
        """A group is there from the moment that it is asked about a stream."""
        self.readers[group].read.setdefault(priority, 0)

    def unread(self, group: str, priority: Priority) -> list[Entry]:
        stream = self.streams[priority][self.readers[group].read.get(priority, 0) :]
        return [entry for entry in stream if not entry.is_gone]

    def receive(self, group: str, priority: Priority, limit: int, lease: float) -> list[Entry]:
        self.join(group, priority)
        return [entry for entry in self._take(group, priority, limit, lease) if self._is_news(group, entry)]

    def open(self, group: str, entry: Entry) -> DeliveryState | None:
        """How far a delivery has come; what nobody can read is set aside by looking at it."""
        held = self.readers[group].pending.get(entry)
        if held and entry.grave:
            self.dead_letter(group, entry, entry.grave, attempts=0)
            return None
        return held and held.progress

    def compare_and_set_state(self, group: str, entry: Entry, after: DeliveryState, lease: float) -> None:
        self.readers[group].pending[entry] = Held(replace(after, by=""), self.now + lease)

    def renew(self, group: str, entry: Entry, lease: float) -> None:
        if held := self.readers[group].pending.get(entry):
            held.lease_ends = max(held.lease_ends, self.now + lease)

    def overdue(self, group: str) -> set[Entry]:
        return {entry for entry, held in self.readers[group].pending.items() if held.lease_ends <= self.now}

    def close(self, group: str, entry: Entry, outcome: str) -> None:
        del self.readers[group].pending[entry]
        self.readers[group].counts[outcome] += 1

    def skip(self, group: str, entry: Entry, reason: str) -> None:
        self.close(group, entry, f"skipped:{reason}")
        if entry.event and reason != REPEATED:
            self.readers[group].skipped[entry.event] = reason

    def dead_letter(self, group: str, entry: Entry, grave: DeadLetterKind, *, attempts: int) -> None:
        self.close(group, entry, grave.value)
        self.letters.append(Note(group, entry, grave, attempts))

    def redrive(self, note: Note) -> None:
        self.letters.remove(note)
        reader = self.readers[note.group]
        reader.pending[note.entry] = Held(DeliveryState.redriven(note.attempts), self.now)
        reader.counts[note.grave.value] -= 1

    def drop(self, note: Note) -> None:
        """Its event is not taken for done."""
        self.letters.remove(note)
        if note.entry.event:
            self.readers[note.group].skipped[note.entry.event] = DROPPED

    def trim(self, priority: Priority) -> int:
        """Everything is old: what is read by all goes, but what somebody comes back to, and the last one read."""
        readers = [reader for reader in self.readers.values() if priority in reader.read]
        gone = [
            entry
            for position, entry in enumerate(self.streams[priority])
            if not entry.is_gone
            and all(position < reader.read[priority] for reader in readers)
            and not any(entry is self._last_read(reader, priority) for reader in readers)
            and not any(entry in reader.pending for reader in readers)
            and not any(entry is note.entry for note in self.letters)
        ]
        for entry in gone:
            entry.is_gone = True
        return len(gone)

    def locate(self, event: UUID, group: str) -> EventStatus:
        entry, reader = self.places.get(event), self.readers[group]
        if entry and event in reader.skipped:
            return EventStatus.SKIPPED
        if entry is None or entry.is_gone:
            return EventStatus.UNKNOWN
        if self.streams[entry.priority].index(entry) >= reader.read.get(entry.priority, 0):
            return EventStatus.WAITING
        if entry in reader.pending:
            return EventStatus.IN_FLIGHT
        graves = [note.grave for note in self.letters if (note.group, note.entry) == (group, entry)]
        return EventStatus(graves[0].value) if graves else EventStatus.DONE

    def _take(self, group: str, priority: Priority, limit: int, lease: float) -> list[Entry]:
        reader = self.readers[group]
        taken = self.unread(group, priority)[:limit]
        if taken:
            reader.read[priority] = self.streams[priority].index(taken[-1]) + 1
        reader.counts["received"] += len(taken)
        reader.pending |= {entry: Held(DeliveryState(), self.now + lease) for entry in taken}
        return taken

    def _is_news(self, group: str, entry: Entry) -> bool:
        if entry.event is None:
            return self.open(group, entry) is not None
        if self.places.setdefault(entry.event, entry) is entry:
            return True
        self.skip(group, entry, REPEATED)
        return False

    def _last_read(self, reader: Reader, priority: Priority) -> Entry | None:
        return self.streams[priority][reader.read[priority] - 1] if reader.read[priority] else None
