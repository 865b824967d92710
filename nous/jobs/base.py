"""The seam to whatever executes attempts, one job each."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.base import Lane, Ticket

_USUAL = "nous"
_BETWEEN = "--"
"""Stands behind the prefix of an installation, and in the name of no worker."""
_JOB = re.compile(r"(?P<worker>.+)--(?P<event>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})--\d+")
_FOR_IDS = str.maketrans({"_": "__", ".": "_-"})
"""RQ takes letters, digits, `_` and `-` for an id. Whatever the prefix, it can be told from every other one."""


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


@dataclass(frozen=True, slots=True)
class JobNames:
    """What an installation calls what it shares a place with: all of them on one server have their jobs in RQ's keys.

    Names begin with the prefix, but for the usual one, under which they are bare: `rq worker episode-summarizer` serves
    it. No name of one installation is one of another's.
    """

    prefix: str = _USUAL

    def own(self, name: str) -> str:
        """What a worker, or a queue, is called among those of all installations."""
        return f"{self._mark}{name}"

    def own_id(self, job: str) -> str:
        """What a job is called, of which `job_id` has made the name."""
        return f"{self._mark.translate(_FOR_IDS)}{job}"

    def owns_any(self, queues: Iterable[str]) -> bool:
        """Whether one of *queues* is of this installation; of a worker that tells none, that cannot be ruled out."""
        marks = [_split(each)[0] for each in queues]
        return not marks or self._mark in marks

    def attempt_of(self, job: str) -> tuple[str, UUID] | None:
        """The worker and the event of an attempt, by its job's id; None of what is not one of this installation."""
        match = _JOB.fullmatch(job)
        mark, worker = _split(match["worker"]) if match else ("", "")
        return (worker, UUID(match["event"])) if match and mark == self._mark.translate(_FOR_IDS) else None

    @property
    def _mark(self) -> str:
        return "" if self.prefix == _USUAL else f"{self.prefix}{_BETWEEN}"


BARE = JobNames()


def _split(name: str) -> tuple[str, str]:
    """What tells the installation, and the rest."""
    prefix, dashes, rest = name.rpartition(_BETWEEN)
    return f"{prefix}{dashes}", rest


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

        Of the attempts at one delivery, the jobs of the last dozen are kept to be looked at (see
        `nous.bus.delivery_state`).

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


class MemoryJobs:
    """`Jobs` that wait until `run` is called."""

    def __init__(self) -> None:
        self.submitted: list[Order] = []
        self._waiting: dict[str, deque[Order]] = defaultdict(deque)

    def submit(self, *orders: Order) -> int:
        known = {order.id for order in self.submitted}
        fresh = [order for order in orders if order.id not in known]
        for order in fresh:
            self.submitted.append(order)
            self._waiting[order.queue].append(order)
        return len(fresh)

    def backlog(self, worker: str, line: Line) -> int:
        return len(self._waiting[line.queue(worker)])

    def is_waiting(self, order: Order) -> bool:
        return order.id in {waiting.id for waiting in self._waiting[order.queue]}

    def lose(self) -> None:
        """Forget every job that waits, as a queue does whose keys are lost."""
        self._waiting.clear()

    def run(self, runner: Runner, worker: str, line: Line = Line.LIVE) -> list[str]:
        """Run what waits in a queue, and say what came of each; a failed attempt says the error."""
        outcomes: list[str] = []
        waiting = self._waiting[line.queue(worker)]
        while waiting:
            order = waiting.popleft()
            try:
                outcomes.append(runner(worker, order.ticket.lane, order.ticket.entry, order.attempt))
            except Exception as error:  # noqa: BLE001 (a queue goes on whatever its job raised)
                outcomes.append(f"failed: {error}")
        return outcomes
