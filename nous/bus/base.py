"""Event bus interface: publish, receive on a lease, commit effects atomically, dead-letter."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.delivery_state import AttemptFailure, DeliveryState
from nous.domain.effects import Effects
from nous.domain.events import Event

REPEATED = "published twice"
"""Reason for skipping an entry whose event is in another entry too: a foreign producer published it twice."""


class Priority(StrEnum):
    """Priority of an event, and its stream: live sessions before the import of past ones."""

    LIVE = "live"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A consumer group, named after its worker, and the type of events it consumes."""

    group: str
    kind: type[Event]


@dataclass(frozen=True, slots=True)
class DeliveryRef:
    """Identifies one entry of one stream for one group; enough to find its event again."""

    subscription: Subscription
    priority: Priority
    entry: str

    @property
    def name(self) -> str:
        return f"{self.priority}/{self.entry}"

    @classmethod
    def named(cls, name: str, subscription: Subscription) -> "DeliveryRef":
        priority, _, entry = name.partition("/")
        return cls(subscription, Priority(priority), entry)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event delivered to a group and not yet committed, with its delivery state."""

    ref: DeliveryRef
    event: Event
    state: DeliveryState


@dataclass(frozen=True, slots=True)
class PublishReceipt:
    """Position of a published event; `fresh` is false if it was published before."""

    event_id: UUID
    session_id: str
    priority: Priority
    entry: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Committed:
    """The effects are applied and the delivery is acknowledged."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The delivery was committed, dead-lettered or erased before; nothing was written."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A precondition no longer holds; nothing was written, and the delivery is still pending."""

    reason: str


Verdict = Committed | Duplicate | Conflict


class DeadLetterKind(StrEnum):
    """Kind of dead letter: it cannot succeed, or (PARKED) its type or version is unknown."""

    DEAD = "dead"
    PARKED = "parked"


class Bus(Protocol):
    """Event log with consumer groups, leases and atomic commits.

    Every published event is delivered to every group until that group commits or dead-letters it. Every method raises
    `Unavailable` when the server does not answer, and may then be called again.
    """

    def publish(
        self, *events: Event, priority: Priority = Priority.LIVE, durable: bool = False
    ) -> Sequence[PublishReceipt]:
        """Append events idempotently, and wait until they survive a crash of the server.

        An event that was published before is not appended again. *durable* waits until the server has the event and its
        upload on disk: then they survive a power cut as well. Raises `Unavailable` if the upload of an event is missing
        (upload it and publish again), `Misconfigured` if the server cannot guarantee *durable*, and `BadInput` if its
        session was erased.
        """
        ...

    def receive(
        self, subscription: Subscription, *, priority: Priority, limit: int, lease: float
    ) -> Sequence[Delivery]:
        """Deliver up to *limit* new events to the group, oldest first, leased for *lease* seconds.

        Unreadable entries are dead-lettered, entries of an unknown type or version are parked. Neither is returned.
        """
        ...

    def wait(self, subscription: Subscription, *, priorities: Iterable[Priority], seconds: float) -> None:
        """Block until there may be something to receive, for at most *seconds*."""
        ...

    def open(self, ref: DeliveryRef) -> Delivery | None:
        """Read a delivery again; None if it is no longer pending.

        A new or redriven delivery is ended here if its session was erased, or if another entry holds the same event.
        """
        ...

    def begin(self, ref: DeliveryRef, *, attempt: int, lease: float) -> Delivery | None:
        """Mark a queued attempt as running and read it; None if it is over, or not at *attempt*."""
        ...

    def compare_and_set_state(
        self,
        ref: DeliveryRef,
        *,
        before: DeliveryState,
        after: DeliveryState,
        lease: float,
        attempt_failure: AttemptFailure | None = None,
    ) -> bool:
        """Replace state *before* by *after* if the delivery is pending and at *before*.

        The delivery gets a lease of *lease* seconds. *attempt_failure* is appended to its history, of which the last
        twelve entries are kept for a week. Returns whether the state was replaced.
        """
        ...

    def renew(self, refs: Iterable[DeliveryRef], *, lease: float) -> None:
        """Extend the leases of pending deliveries to *lease* seconds from now; never shorten one."""
        ...

    def clamp_leases(self, subscription: Subscription, *, lease: float) -> int:
        """Cut leases of attempts to *lease* seconds after the clock was set back; return how many."""
        ...

    def overdue(self, subscription: Subscription, *, limit: int) -> Sequence[tuple[DeliveryRef, DeliveryState]]:
        """Return up to *limit* pending deliveries with an expired lease, longest expired first."""
        ...

    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        """Apply *effects* and acknowledge *delivery* atomically, at most once per delivery.

        Returns `Conflict` if the effects contain a text that was erased (see `texts_told_by`), even a moment ago.
        """
        ...

    def apply(self, effects: Effects, *, priority: Priority = Priority.LIVE) -> Verdict:
        """Apply effects that belong to no delivery, all or nothing; their events get *priority*.

        Returns `Conflict` if their content was erased (see `told_by`), even a moment ago.
        """
        ...

    def dead_letter(
        self,
        ref: DeliveryRef,
        *,
        progress: DeliveryState | None,
        reason: str,
        grave: DeadLetterKind = DeadLetterKind.DEAD,
        attempt_failure: AttemptFailure | None = None,
        traceback: str = "",
    ) -> bool:
        """Acknowledge the delivery and write a dead letter, if it is in flight and at *progress*.

        A *progress* of None matches any state. A delivery that another program acknowledged is still in flight here.
        The dead letter contains *reason*, the history with *attempt_failure* last, and *traceback*. For a dead
        delivery, `job_dead_lettered` is published in the same step, unless its event is of that type itself. Returns
        whether the dead letter was written.
        """
        ...
