"""Job queue interface, job spec per delivery attempt, queue and job names."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from nous.bus.base import Delivery, DeliveryRef, Priority

_USUAL = "nous"
_BETWEEN = "--"  # separates the prefix of an installation from the name. No worker's name contains it
_JOB = re.compile(r"(?P<worker>.+)--(?P<event>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})--\d+")
_FOR_IDS = str.maketrans({"_": "__", ".": "_-"})
"""Escapes a prefix for job ids, where RQ allows letters, digits, `_` and `-`. Distinct prefixes stay distinct."""


class QueueKind(StrEnum):
    """Queue of a worker; QUARANTINE is for events that may crash their process."""

    LIVE = "live"
    BULK = "bulk"
    QUARANTINE = "quarantine"

    @classmethod
    def of(cls, priority: Priority) -> "QueueKind":
        return cls(priority.value)

    def queue(self, worker: str) -> str:
        """Return the queue's name: the worker's name, with the kind as suffix unless it is LIVE."""
        return worker if self is QueueKind.LIVE else f"{worker}-{self}"


def job_id(worker: str, event_id: UUID, attempt: int) -> str:
    """Return the id of an attempt's job, so that submitting it again is idempotent."""
    return f"{worker}--{event_id}--{attempt}"


@dataclass(frozen=True, slots=True)
class JobNames:
    """Names of one installation's workers, queues and jobs in RQ's shared key space.

    Each begins with the installation's prefix, but for the default one: its names are bare, so `rq worker
    episode-summarizer` serves it. No name of one installation is a name of another.
    """

    prefix: str = _USUAL

    def own(self, name: str) -> str:
        return f"{self._mark}{name}"

    def own_id(self, job: str) -> str:
        """Return the id of a job, unique among all installations; *job* comes from `job_id`."""
        return f"{self._mark.translate(_FOR_IDS)}{job}"

    def owns_any(self, queues: Iterable[str]) -> bool:
        """Return whether one of *queues* is of this installation, or there are none to tell by."""
        marks = [_split(each)[0] for each in queues]
        return not marks or self._mark in marks

    def attempt_of(self, job: str) -> tuple[str, UUID] | None:
        """Return worker and event of an attempt by its job's id; None for a foreign id."""
        match = _JOB.fullmatch(job)
        mark, worker = _split(match["worker"]) if match else ("", "")
        return (worker, UUID(match["event"])) if match and mark == self._mark.translate(_FOR_IDS) else None

    @property
    def _mark(self) -> str:
        return "" if self.prefix == _USUAL else f"{self.prefix}{_BETWEEN}"


BARE = JobNames()


def _split(name: str) -> tuple[str, str]:
    prefix, dashes, rest = name.rpartition(_BETWEEN)
    return f"{prefix}{dashes}", rest


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """One attempt at one delivery; it references the event and holds none of its content."""

    ref: DeliveryRef
    event_id: UUID
    session_id: str
    attempt: int
    line: QueueKind

    @classmethod
    def of(cls, delivery: Delivery, *, attempt: int, line: QueueKind) -> "JobSpec":
        event = delivery.event
        return cls(ref=delivery.ref, event_id=event.id, session_id=event.session_id, attempt=attempt, line=line)

    @property
    def worker(self) -> str:
        return self.ref.subscription.group

    @property
    def id(self) -> str:
        return job_id(self.worker, self.event_id, self.attempt)

    @property
    def queue(self) -> str:
        return self.line.queue(self.worker)

    @property
    def description(self) -> str:
        attempt = "" if self.attempt == 1 else f", attempt {self.attempt}"
        return f"{self.ref.subscription.kind.type} of session {self.session_id}{attempt}"


class Jobs(Protocol):
    """Job queue. Each submitted attempt runs at least once, eventually."""

    def submit(self, *orders: JobSpec) -> int:
        """Queue a job for each attempt that has none yet; return how many. Idempotent.

        The jobs of a delivery's last dozen attempts are kept for inspection. Raises `Unavailable`.
        """
        ...

    def backlog(self, worker: str, line: QueueKind) -> int:
        """Return how many jobs wait in a queue; running jobs do not count."""
        ...

    def is_waiting(self, order: JobSpec) -> bool:
        """Return whether the attempt's job still waits in its queue."""
        ...


Runner = Callable[[str, str, str, int], str]
"""Makes the attempt with this worker, priority, stream entry and number; returns a short text about the outcome."""
