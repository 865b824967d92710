"""What became of every event, and what was set aside, until somebody decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.base import Grave, Lane, Subscription, Ticket
from nous.events import Event
from nous.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of the events that a group was offered. At rest and in flight, `balance` is 0."""

    received: int = 0
    done: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    dead: int = 0
    erased: int = 0
    parked: int = 0
    in_flight: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int], *, in_flight: int) -> "Account":
        """Read the counters that a bus keeps; those of skipped events are named `skipped:<reason>`."""
        skipped = {
            name.removeprefix("skipped:"): count for name, count in counts.items() if name.startswith("skipped:")
        }
        plain = {name: counts.get(name, 0) for name in ("received", "done", "dead", "erased", "parked")}
        return cls(**plain, skipped=skipped, in_flight=in_flight)

    @property
    def balance(self) -> int:
        """Events that were offered and are nowhere. Anything but 0 is a defect."""
        return self.received - (
            self.done + sum(self.skipped.values()) + self.dead + self.erased + self.parked + self.in_flight
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """One stream as one group sees it. `waiting` is None where the server cannot tell."""

    lane: Lane
    length: int
    waiting: int | None
    pending: int
    oldest_pending: datetime | None


class Whereabouts(StrEnum):
    """Where an event is, for one group."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    IN_FLIGHT = "in flight"
    DEAD = "dead"
    PARKED = "parked"
    SKIPPED = "skipped"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where an event is for one group, and why it is there, in words; where it waits to be tried again, until when."""

    where: Whereabouts
    ticket: Ticket | None = None
    reason: str = ""
    next_try: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A delivery that was set aside: which, why, and after how many attempts. The event itself stays in its stream.

    One that is not readable, which nobody of us has written, is about no delivery: its group is empty.
    """

    id: str
    group: str
    kind: str
    lane: Lane
    entry: str
    grave: Grave
    reason: str
    at: datetime
    attempts: int
    event_id: str | None = None
    session_id: str | None = None

    @property
    def is_readable(self) -> bool:
        return bool(self.group)

    def is_about(self, ticket: Ticket) -> bool:
        return (self.group, self.lane, self.entry) == (ticket.subscription.group, ticket.lane, ticket.entry)


class Ledger(Protocol):
    """What became of everything."""

    def account(self, subscription: Subscription) -> Account: ...

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]: ...

    def locate(self, event_id: UUID, subscription: Subscription) -> Location:
        """Where the event is for that group. It is UNKNOWN when it was not published, or too long ago to tell."""
        ...

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        """The ids of the events of that kind about a session, oldest first. Reads the whole stream: for people."""
        ...


class DeadLetters(Protocol):
    """What was set aside, until somebody decides."""

    def letters(self, *, limit: int = 1000) -> Sequence[Letter]:
        """The letters, oldest first."""
        ...

    def find(self, letter_id: str) -> Letter:
        """Raises `NotFound`."""
        ...

    def redrive(self, letter: Letter, subscription: Subscription) -> bool:
        """Make its delivery pending again, at a first attempt; false when somebody did so before."""
        ...

    def drop(self, letter: Letter) -> bool:
        """Forget the letter. The delivery stays counted as dead or parked."""
        ...
