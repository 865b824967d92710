"""What became of every event, and what was set aside, until somebody decides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.base import Grave, Lane, Subscription, Ticket
from nous.bus.delivery_state import Mishap
from nous.domain.effects import Effects
from nous.domain.events import Event
from nous.domain.scope import Scope
from nous.text.sanitize import shortened

SKIPPED = "skipped:"
"""How the counters of skipped events begin; the reason follows."""

OTHERS = f"{SKIPPED}other reasons"
MOST_COUNTERS = 100
"""Counters of a group: reasons for skipping are few, unless a worker of somebody's tells each its own."""

_LONGEST = 100


def outcome_of(effects: Effects) -> str:
    """The counter that a commit of *effects* moves."""
    return f"{SKIPPED}{shortened(effects.skipped, _LONGEST)}" if effects.skipped else "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of the events that a group was offered. At rest and in flight, `balance` is 0.

    Of those in flight, *foreign* were received by somebody else, and are counted as received at the next sweep.
    *Orphans* were taken out of the group's pending list by somebody else, and are dead when their lease has ended.
    """

    received: int = 0
    done: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    dead: int = 0
    erased: int = 0
    parked: int = 0
    in_flight: int = 0
    foreign: int = 0
    orphans: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int], *, in_flight: int, leased: int) -> "Account":
        """Read the counters that a bus keeps; those of skipped events are named `skipped:<reason>`.

        There is a lease for each delivery that is in flight, so other hands show in the difference. It explains no more
        than what does not add up otherwise: somebody may have deleted the leases.
        """
        skipped = {name.removeprefix(SKIPPED): count for name, count in counts.items() if name.startswith(SKIPPED)}
        plain = {name: counts.get(name, 0) for name in ("received", "done", "dead", "erased", "parked")}
        account = cls(**plain, skipped=skipped, in_flight=in_flight)
        foreign = min(max(in_flight - leased, 0), max(-account.balance, 0))
        orphans = min(max(leased - in_flight, 0), max(account.balance, 0))
        return replace(account, foreign=foreign, orphans=orphans)

    @property
    def balance(self) -> int:
        """Events that were offered and are nowhere. Anything but 0 is a defect, or the work of a foreign hand."""
        return (self.received + self.foreign) - (
            self.done + sum(self.skipped.values()) + self.dead + self.erased + self.parked + self.in_flight
        )

    @property
    def why(self) -> str:
        """Why the account does not add up, as far as that can be told; "" if it does."""
        balance = self.balance
        if balance == 0:
            return ""
        if balance == self.orphans:
            return (
                f"{balance} were taken out of the pending list by somebody else (XACK, XGROUP DELCONSUMER or DESTROY); "
                "each is set aside with a letter when its lease has ended"
            )
        if balance > 0:
            return f"{balance} were received and are nowhere: somebody has changed keys of the bus, or this is a defect"
        return (
            f"{-balance} more are accounted for than were received: the counters were deleted or set back, "
            "or this is a defect"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """One stream as one group sees it. `waiting` is None where the server cannot tell how many do, though some do."""

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

    *history* is what went wrong, the last of it, oldest first; *traceback* is that of the last error, as
    `nous.redaction.tracebacks` writes it. Neither is there in what older releases wrote.

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
    history: tuple[Mishap, ...] = ()
    traceback: str = ""

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

    def event(self, ticket: Ticket) -> Event | None:
        """The event behind *ticket*, be it dead or done; None if it stands there no more, or cannot be read."""
        ...

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        """The ids of the events of that kind about a session, oldest first. Reads the whole stream: for people."""
        ...


class DeadLetters(Protocol):
    """What was set aside, until somebody decides."""

    def letters(self, *, limit: int | None = None) -> Sequence[Letter]:
        """The letters, oldest first; up to *limit*, or all of them."""
        ...

    def each(self) -> Iterator[Letter]:
        """The letters as they were written, one after the other: for whoever need not have them all at once.

        What is redriven or dropped meanwhile keeps none of the others from being told, and none is told that is
        written meanwhile: who redrives each tries none of them twice.
        """
        ...

    def count(self) -> int:
        """How many letters there are."""
        ...

    def payload(self, letter: Letter) -> bytes | int | None:
        """The event that a letter is about, as it stands in its stream; None where it is gone.

        Of one that is larger than any event may be, how many bytes it has.
        """
        ...

    def find(self, letter_id: str) -> Letter:
        """Raises `NotFound`."""
        ...

    def redrive(self, letter: Letter, subscription: Subscription) -> bool:
        """Make its delivery pending again, with its errors forgotten; false when somebody did so before.

        Its attempts go on to be counted where they were.

        Raises:
            NotFound: the event is no longer in its stream.
        """
        ...

    def drop(self, letter: Letter) -> bool:
        """Forget the letter. The delivery stays counted as dead or parked, and is said to be skipped for a while."""
        ...


class Trimming(Protocol):
    """Bounds what the streams hold. Any number may trim at once, and beside everything else that a bus does.

    Every method raises `Unavailable` when the server does not answer.
    """

    def trim(self, kind: type[Event], *, lane: Lane, keep: float) -> Iterator[int]:
        """Remove what a stream took more than *keep* seconds ago; yields how many for each page, oldest first.

        An event stays that a group has not read, or has pending, or that a letter is about: redriving needs it. So
        does the last one that a group has read. It may be left between two pages; whoever comes next goes on.
        """
        ...
