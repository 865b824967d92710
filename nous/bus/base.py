"""The log of events, as everybody else sees it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.progress import Progress
from nous.effects import Effects
from nous.events import Event


class Lane(StrEnum):
    """Which of its two streams an event travels in. Live sessions come before bulk work, which fills past memory in."""

    LIVE = "live"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A group of consumers, named after its worker, and the kind of event it wants."""

    group: str
    kind: type[Event]


@dataclass(frozen=True, slots=True)
class Ticket:
    """Names one entry of one stream for one group: all that anybody has to be told to find the event again."""

    subscription: Subscription
    lane: Lane
    entry: str

    @property
    def name(self) -> str:
        """The ticket within its group."""
        return f"{self.lane}/{self.entry}"

    @classmethod
    def named(cls, name: str, subscription: Subscription) -> "Ticket":
        """The ticket that *name* stands for in the group of *subscription*."""
        lane, _, entry = name.partition("/")
        return cls(subscription, Lane(lane), entry)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event that was offered to a group and not yet committed, and how far the group has come with it."""

    ticket: Ticket
    event: Event
    progress: Progress


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where a published event stands. `fresh` is false when it stood there already."""

    event_id: UUID
    lane: Lane
    entry: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Committed:
    """The effects are applied and the delivery is acknowledged."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The delivery was committed, buried or erased before; nothing was written."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What the effects expect does not hold any more; nothing was written, and the delivery is still pending."""

    reason: str


Verdict = Committed | Duplicate | Refused


class Grave(StrEnum):
    """Why a delivery was set aside: it cannot work (dead), or this release does not know it (parked)."""

    DEAD = "dead"
    PARKED = "parked"


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
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A delivery that was set aside: which, why, and after how many attempts. The event itself stays in its stream."""

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

    def is_about(self, ticket: Ticket) -> bool:
        return (self.group, self.lane, self.entry) == (ticket.subscription.group, ticket.lane, ticket.entry)


class Bus(Protocol):
    """A log of events. Whatever `publish` accepted is offered to every group until that group commits or buries it.

    Every method raises `Unavailable` when the server does not answer, and may then be called again.
    """

    def publish(self, *events: Event, lane: Lane = Lane.LIVE, durable: bool = False) -> Sequence[Receipt]:
        """Append each event, unless it was published before. *durable* waits until the disk has it.

        Raises:
            Misconfigured: *durable* was asked of a server that cannot promise it.
        """
        ...

    def receive(self, subscription: Subscription, *, lane: Lane, limit: int, lease: float) -> Sequence[Delivery]:
        """Take up to *limit* events that the group was never offered, oldest first, each on a lease in seconds.

        What cannot be read is buried, what this release does not know is parked, and neither is returned.
        """
        ...

    def wait(self, subscription: Subscription, *, lanes: Iterable[Lane], seconds: float) -> None:
        """Return when there may be something to receive, or after *seconds*."""
        ...

    def open(self, ticket: Ticket) -> Delivery | None:
        """Read a delivery again; None when it is not pending any more."""
        ...

    def amend(self, ticket: Ticket, *, before: Progress, after: Progress, lease: float) -> bool:
        """Replace *before* by *after* and give it *lease* seconds, if the delivery is pending and still at *before*."""
        ...

    def renew(self, tickets: Iterable[Ticket], *, lease: float) -> None:
        """Let the leases of those that are still pending end *lease* seconds from now, and no earlier than they did."""
        ...

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[Ticket, Progress]]:
        """Up to *limit* pending deliveries whose lease has ended, the longest ago first."""
        ...

    def adopt(self, subscription: Subscription, *, lane: Lane) -> int:
        """Put pending entries that have no lease, because somebody else received them, on one that has ended."""
        ...

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        """Apply *effects* and acknowledge *delivery*, both or neither, at most once in the delivery's life."""
        ...

    def apply(self, effects: Effects) -> Verdict:
        """Apply effects that follow from no delivery, all or nothing."""
        ...

    def bury(self, ticket: Ticket, *, progress: Progress | None, reason: str, grave: Grave = Grave.DEAD) -> bool:
        """Acknowledge the delivery and write a letter that says why, if it is pending and still at *progress*."""
        ...


class Ledger(Protocol):
    """What became of everything."""

    def account(self, subscription: Subscription) -> Account: ...

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]: ...

    def locate(self, event_id: UUID, subscription: Subscription) -> tuple[Whereabouts, Ticket | None]:
        """Where the event is for that group. It is UNKNOWN when it was not published, or too long ago to tell."""
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
