"""Attempts as RQ jobs. Everything that touches RQ's queues is in this package."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import redis
from rq.defaults import RQ_KEY_PREFIX
from rq.job import JobStatus
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.utils import now

from nous.bus.delivery_state import MOST
from nous.jobs.base import JobNames, Line, Order, job_id
from nous.jobs.rq.job import FUNCTION, AllowListedJob, words_for
from nous.redis_support.errors import translated
from nous.redis_support.scripts import register


def queue_named(name: str, client: redis.Redis) -> Queue:
    """An RQ queue as nous uses them: JSON, and jobs that run our function only."""
    return Queue(name, connection=client, serializer=JSONSerializer, job_class=AllowListedJob)


class RqJobs:
    """`Jobs` on RQ. *client* is RQ's own, since RQ changes its pool's timeouts. Times are in seconds.

    What a job hands over names its worker by *names* too, so that whoever takes the job of another installation knows.
    """

    def __init__(
        self, client: redis.Redis, names: JobNames, *, deadline: float, result_ttl: int, failure_ttl: int
    ) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._names = names
        self._submit: Any = register(client, "nous.jobs.rq", "submit")
        self._timeout = max(int(deadline), 1)
        self._result_ttl = result_ttl
        self._failure_ttl = failure_ttl

    def submit(self, *orders: Order) -> int:
        """RQ itself can refuse to queue a job twice only one job at a time; this does as it does, for many."""
        by_queue: dict[str, list[Order]] = {}
        for order in orders:
            by_queue.setdefault(order.queue, []).append(order)
        with translated():
            return sum(self._submit_to(name, some) for name, some in by_queue.items())

    def _submit_to(self, name: str, orders: Sequence[Order]) -> int:
        queue = queue_named(self._names.own(name), self._client)
        shared = list(chain.from_iterable(self._shared_fields(queue)))
        of_each = chain.from_iterable(map(self._fields_of, orders))
        keys = (queue.redis_queues_keys, queue.key)
        return int(self._submit(keys=keys, args=(RQ_KEY_PREFIX, len(shared), *shared, *of_each)))

    def _shared_fields(self, queue: Queue) -> Iterable[tuple[str, Any]]:
        """What RQ would save of any of our jobs that is queued now."""
        job = queue.create_job(
            FUNCTION,
            timeout=self._timeout,
            result_ttl=self._result_ttl,
            failure_ttl=self._failure_ttl,
            status=JobStatus.QUEUED,
        )
        job.origin, job.enqueued_at = queue.name, now()
        return ((name, value) for name, value in job.to_dict().items() if name not in {"data", "description"})

    def _fields_of(self, order: Order) -> tuple[str, bytes, str, str]:
        """The job's id, its call, what it says of itself, and the job that goes when it comes."""
        own, own_id = self._names.own, self._names.own_id
        call = words_for(own(order.worker), order.ticket.lane.value, order.ticket.entry, order.attempt)
        outdated = _outdated(order)
        return own_id(order.id), call, own(order.description), own_id(outdated) if outdated else ""

    def backlog(self, worker: str, line: Line) -> int:
        with translated():
            return int(self._client.llen(self._key(line.queue(worker))))

    def is_waiting(self, order: Order) -> bool:
        # The list itself is asked: a job that was taken by a worker which then died still calls itself queued.
        with translated():
            return self._client.lpos(self._key(order.queue), self._names.own_id(order.id)) is not None

    def _key(self, queue: str) -> str:
        return Queue.redis_queue_namespace_prefix + self._names.own(queue)


def _outdated(order: Order) -> str:
    """The job of an attempt that is too long ago to be shown; "" where none is."""
    attempt = order.attempt - MOST
    return job_id(order.worker, order.event_id, attempt) if attempt > 0 else ""
