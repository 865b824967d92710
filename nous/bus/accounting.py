"""Value types of delivery counters, backlogs, event lookup and dead letters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from nous.bus.base import DeadLetterKind, DeliveryRef, Priority
from nous.bus.delivery_state import AttemptFailure
from nous.domain.effects import Effects
from nous.text.sanitize import shortened

SKIPPED = "skipped:"  # prefix of the counters of skipped events; the reason follows
_LONGEST = 100


def outcome_of(effects: Effects) -> str:
    """Return the name of the counter that a commit of *effects* increments."""
    return f"{SKIPPED}{shortened(effects.skipped, _LONGEST)}" if effects.skipped else "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounters:
    """Delivery counters of one consumer group; `discrepancy` is 0 at rest and in flight."""

    received: int = 0
    done: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    dead: int = 0
    erased: int = 0
    parked: int = 0
    in_flight: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int], *, in_flight: int) -> "GroupCounters":
        skipped = {name.removeprefix(SKIPPED): count for name, count in counts.items() if name.startswith(SKIPPED)}
        plain = {name: counts.get(name, 0) for name in ("received", "done", "dead", "erased", "parked")}
        return cls(**plain, skipped=skipped, in_flight=in_flight)

    @property
    def discrepancy(self) -> int:
        """Received events that are unaccounted for; if not 0, `why` says what may have happened."""
        ended = self.done + sum(self.skipped.values()) + self.dead + self.erased + self.parked
        return self.received - ended - self.in_flight

    @property
    def why(self) -> str:
        """Possible causes of the discrepancy; "" if there is none."""
        if self.discrepancy == 0:
            return ""
        surplus = self.discrepancy < 0
        found = "more are accounted for than were received" if surplus else "were received and are nowhere"
        return f"{abs(self.discrepancy)} {found}: another program changed keys or the pending list, or this is a defect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Backlog of one stream for one group; `waiting` is None if the server cannot count it."""

    priority: Priority
    length: int
    waiting: int | None
    pending: int
    oldest_pending: datetime | None


class EventStatus(StrEnum):
    UNKNOWN = "unknown"
    WAITING = "waiting"
    IN_FLIGHT = "in flight"
    DEAD = "dead"
    PARKED = "parked"
    SKIPPED = "skipped"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLocation:
    """Location of an event for one group; `next_try` is set while it waits for a retry."""

    where: EventStatus
    ref: DeliveryRef | None = None
    reason: str = ""
    next_try: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """Record of a dead-lettered delivery; the event itself stays in its stream.

    *history* (the last failures, oldest first) and *traceback* (masked) are empty in records of older releases.
    """

    id: str
    group: str
    kind: str
    priority: Priority
    entry: str
    letter_kind: DeadLetterKind
    reason: str
    at: datetime
    attempts: int
    event_id: str | None = None
    session_id: str | None = None
    history: tuple[AttemptFailure, ...] = ()
    traceback: str = ""

    def is_about(self, ref: DeliveryRef) -> bool:
        return (self.group, self.priority, self.entry) == (ref.subscription.group, ref.priority, ref.entry)
