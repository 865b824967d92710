"""Attempts as RQ jobs. Everything that touches RQ's queues is in this package."""

from typing import Any

import redis
from rq.exceptions import DuplicateJobError
from rq.queue import Queue
from rq.serializers import JSONSerializer

from nous.bus.redis_errors import translated
from nous.jobs.base import Line, Order
from nous.jobs.rq.job import FUNCTION, AllowListedJob

_MARGIN = 60
"""Seconds that RQ waits longer than the handler's own deadline, so that ours speaks first."""


def queue_named(name: str, client: redis.Redis) -> Queue:
    """An RQ queue as nous uses them: JSON, and jobs that run our function only."""
    return Queue(name, connection=client, serializer=JSONSerializer, job_class=AllowListedJob)


class RqJobs:
    """`Jobs` on RQ. *client* is RQ's own, since RQ changes its pool's timeouts. Times are in seconds."""

    def __init__(self, client: redis.Redis, *, deadline: float, result_ttl: int, failure_ttl: int) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._timeout = int(deadline) + _MARGIN
        self._result_ttl = result_ttl
        self._failure_ttl = failure_ttl

    def submit(self, order: Order) -> bool:
        ticket = order.ticket
        with translated():
            try:
                # `unique` makes check, save and push one script: a re-sent command cannot queue the attempt twice.
                queue_named(order.queue, self._client).enqueue_call(
                    FUNCTION,
                    args=(order.worker, ticket.lane.value, ticket.entry, order.attempt),
                    job_id=order.id,
                    unique=True,
                    timeout=self._timeout,
                    result_ttl=self._result_ttl,
                    failure_ttl=self._failure_ttl,
                    description=order.description,
                )
            except DuplicateJobError:
                return False
        return True

    def backlog(self, worker: str, line: Line) -> int:
        with translated():
            return int(self._client.llen(queue_named(line.queue(worker), self._client).key))

    def is_waiting(self, order: Order) -> bool:
        # The list itself is asked: a job that was taken by a worker which then died still calls itself queued.
        with translated():
            return self._client.lpos(queue_named(order.queue, self._client).key, order.id) is not None
