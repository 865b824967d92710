"""The seam to whatever executes attempts, one job each."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.base import Lane, Ticket


class Line(StrEnum):
    """Which queue of a worker a job stands in. Quarantine is for events that may kill their process."""

    LIVE = "live"
    BULK = "bulk"
    QUARANTINE = "quarantine"

    @classmethod
    def of(cls, lane: Lane) -> "Line":
        return cls(lane.value)

    def queue(self, worker: str) -> str:
        """The queue's name: that of its worker, with the line behind it unless it is the usual one."""
        return worker if self is Line.LIVE else f"{worker}-{self}"


def job_id(worker: str, event_id: UUID, attempt: int) -> str:
    """The name of an attempt's job: the same attempt has the same, however often it is submitted."""
    return f"{worker}--{event_id}--{attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One attempt at one delivery. It names the event and holds nothing of it."""

    ticket: Ticket
    event_id: UUID
    session_id: str
    attempt: int
    line: Line

    @property
    def worker(self) -> str:
        return self.ticket.subscription.group

    @property
    def id(self) -> str:
        return job_id(self.worker, self.event_id, self.attempt)

    @property
    def queue(self) -> str:
        return self.line.queue(self.worker)

    @property
    def description(self) -> str:
        attempt = "" if self.attempt == 1 else f", attempt {self.attempt}"
        return f"{self.ticket.subscription.kind.type} of session {self.session_id}{attempt}"


class Jobs(Protocol):
    """Runs attempts, at least once each, some time."""

    def submit(self, *orders: Order) -> int:
        """Queue a job for each attempt that has none yet; returns how many jobs were queued.

        Of the attempts at one delivery, the jobs of the last dozen are kept to be looked at (see `nous.bus.mishaps`).

        Raises:
            Unavailable: the queue did not answer.
        """
        ...

    def backlog(self, worker: str, line: Line) -> int:
        """How many jobs wait in a queue; those that run do not count."""
        ...

    def is_waiting(self, order: Order) -> bool:
        """Whether the attempt's job still stands in its queue."""
        ...


class Runner(Protocol):
    """What a job calls: it makes the attempt that the four words name, and says in a few words what came of it."""

    def __call__(self, worker: str, lane: str, entry: str, attempt: int) -> str: ...
