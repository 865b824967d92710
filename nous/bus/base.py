"""The log of events, as everybody else sees it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.delivery_state import Mishap, Progress
from nous.domain.effects import Effects
from nous.domain.events import Event

REPEATED = "published twice"
"""Why an entry is skipped that tells an event which another entry has told: a foreign producer repeats itself."""


READ_ON = 10
"""How often a call reads on where all that it has read had to be set aside."""


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


class Bus(Protocol):
    """A log of events. Whatever `publish` accepted is offered to every group until that group commits or buries it.

    Every method raises `Unavailable` when the server does not answer, and may then be called again.
    """

    def publish(self, *events: Event, lane: Lane = Lane.LIVE, durable: bool = False) -> Sequence[Receipt]:
        """Append each event, unless it was published before, and wait until the death of the server cannot take it.

        *durable* waits until its disk has it, with its upload: then a power cut cannot take it either.

        Raises:
            Unavailable: what was uploaded for it is not there (see `nous.store.transcript_source`); upload and publish
            again.
            Misconfigured: *durable* was asked of a server that cannot promise it.
            BadInput: its session was forgotten (see `nous.bus.tombstones`).
        """
        ...

    def release(self, event: Event) -> bool:
        """Remove what was uploaded for *event*, whether published or forgotten, if nobody needs it; whether it went.

        It is needed until every group is through with the event, and as long as a letter could have it tried again.
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
        """Read a delivery again; None when it is not pending any more.

        One that is new or was redriven, and tells what was forgotten or what another entry has told, ends here.
        """
        ...

    def begin(self, ticket: Ticket, *, attempt: int, lease: float) -> Delivery | None:
        """Take up an attempt that was offered: note that it runs, and read its event. *lease* is in seconds.

        None when there is nothing to begin: the delivery is over, or it is at another attempt, or this one has begun.
        """
        ...

    def amend(
        self, ticket: Ticket, *, before: Progress, after: Progress, lease: float, mishap: Mishap | None = None
    ) -> bool:
        """Replace *before* by *after* and give it *lease* seconds, if the delivery is pending and still at *before*.

        With it goes *mishap* into the delivery's history, of which the last dozen is kept, for a week.
        """
        ...

    def renew(self, tickets: Iterable[Ticket], *, lease: float) -> None:
        """Let the leases of those that are still pending end *lease* seconds from now, and no earlier than they did."""
        ...

    def pull_in(self, subscription: Subscription, *, lease: float) -> int:
        """Let no lease of what is offered or runs end later than a lease can; returns how many did.

        Such a lease was given by a clock that has been set back since. Each process tells here how many seconds its own
        last, and the longest *lease* that was told within the last hour is what none may exceed: processes may differ
        in theirs. A call looks at some of what ends so late, and the next one at what follows.
        """
        ...

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[Ticket, Progress]]:
        """Up to *limit* pending deliveries whose lease has ended, the longest ago first."""
        ...

    def adopt(self, subscription: Subscription, *, lane: Lane) -> int:
        """Put pending entries that have no lease, because somebody else received them, on one that has ended."""
        ...

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        """Apply *effects* and acknowledge *delivery*, both or neither, at most once in the delivery's life.

        They are refused if they tell a text that has been forgotten (see `texts_told_by`), however shortly before.
        """
        ...

    def apply(self, effects: Effects, *, lane: Lane = Lane.LIVE) -> Verdict:
        """Apply effects that follow from no delivery, all or nothing; their events go into *lane*.

        They are refused if what they tell has been forgotten (see `told_by`), however shortly before: no delivery is
        taken out of the hands of whoever was about to say it.
        """
        ...

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
        """Acknowledge the delivery and write a letter that says why, if it is pending and still at *progress*.

        The letter has the delivery's history, *mishap* last, and *traceback*. Of what is dead, `job_dead_lettered` is
        published in the same step, unless it is one of those itself.
        """
        ...

    def disown(self, ticket: Ticket) -> bool:
        """Write a letter about a delivery that is not pending though it did not come to an end here; whether it is so.

        Somebody else has ended it, in the stream. Its effects were not applied; redriving the letter has it done.
        """
        ...
