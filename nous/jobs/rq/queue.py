"""Attempts as RQ jobs. Everything that touches RQ's queues is in this package."""

from typing import Any

import redis
from rq.job import JobStatus
from rq.queue import Queue
from rq.scripts import UNIQUE_ENQUEUE_SCRIPT
from rq.serializers import JSONSerializer
from rq.utils import now

from nous.bus.redis_errors import translated
from nous.jobs.base import Line, Order
from nous.jobs.rq.job import FUNCTION, AllowListedJob


def queue_named(name: str, client: redis.Redis) -> Queue:
    """An RQ queue as nous uses them: JSON, and jobs that run our function only."""
    return Queue(name, connection=client, serializer=JSONSerializer, job_class=AllowListedJob)


class RqJobs:
    """`Jobs` on RQ. *client* is RQ's own, since RQ changes its pool's timeouts. Times are in seconds."""

    def __init__(self, client: redis.Redis, *, deadline: float, result_ttl: int, failure_ttl: int) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._timeout = max(int(deadline), 1)
        self._result_ttl = result_ttl
        self._failure_ttl = failure_ttl

    def submit(self, *orders: Order) -> int:
        if not orders:
            return 0
        with translated(), self._client.pipeline(transaction=False) as pipe:
            for order in orders:
                self._enqueue(order, pipe)
            return sum(pipe.execute()[1::2])

    def _enqueue(self, order: Order, pipe: Any) -> None:
        """Say to *pipe* what `Queue.enqueue_call(unique=True)` says; RQ itself can be unique only one job at a time."""
        queue = queue_named(order.queue, self._client)
        job = queue.create_job(
            FUNCTION,
            args=(order.worker, order.ticket.lane.value, order.ticket.entry, order.attempt),
            job_id=order.id,
            timeout=self._timeout,
            result_ttl=self._result_ttl,
            failure_ttl=self._failure_ttl,
            description=order.description,
            status=JobStatus.QUEUED,
        )
        job.origin, job.enqueued_at = queue.name, now()
        pipe.sadd(queue.redis_queues_keys, queue.key)
        # One script checks, saves and pushes: the attempt is never queued twice, nor saved and not queued.
        fields = [part for pair in job.to_dict().items() for part in pair]
        pipe.eval(UNIQUE_ENQUEUE_SCRIPT, 2, job.key, queue.key, job.id, "R", -1, *fields)

    def backlog(self, worker: str, line: Line) -> int:
        with translated():
            return int(self._client.llen(queue_named(line.queue(worker), self._client).key))

    def is_waiting(self, order: Order) -> bool:
        # The list itself is asked: a job that was taken by a worker which then died still calls itself queued.
        with translated():
            return self._client.lpos(queue_named(order.queue, self._client).key, order.id) is not None
