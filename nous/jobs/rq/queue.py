"""Submit delivery attempts as RQ jobs, count waiting jobs, check if an attempt's job waits."""

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
from nous.jobs.base import JobNames, JobSpec, QueueKind, job_id
from nous.jobs.rq.job import FUNCTION, AllowListedJob, encode_call
from nous.redis_support.errors import translated
from nous.redis_support.scripts import register


def queue_named(name: str, client: redis.Redis) -> Queue:
    """Return an RQ queue as nous uses them: JSON jobs that run our function only."""
    return Queue(name, connection=client, serializer=JSONSerializer, job_class=AllowListedJob)


class RqJobs:
    """`Jobs` on RQ. Times are in seconds.

    *client* is RQ's own, because RQ changes the timeouts of its pool. The call of a job names its worker with the
    installation's prefix. So a worker that takes a job of another installation can tell.
    """

    def __init__(
        self, client: redis.Redis, names: JobNames, *, deadline: float, result_ttl: int, failure_ttl: int
    ) -> None:
        self._client: Any = client  # replies are narrowed where they are read
        self._names = names
        self._submit: Any = register(client, "nous.jobs.rq", "submit")
        self._timeout = max(int(deadline), 1)
        self._result_ttl = result_ttl
        self._failure_ttl = failure_ttl

    def submit(self, *orders: JobSpec) -> int:
        """Queue the attempts by one script for all: RQ deduplicates only one job at a time."""
        by_queue: dict[str, list[JobSpec]] = {}
        for order in orders:
            by_queue.setdefault(order.queue, []).append(order)
        with translated():
            return sum(self._submit_to(name, some) for name, some in by_queue.items())

    def _submit_to(self, name: str, orders: Sequence[JobSpec]) -> int:
        queue = queue_named(self._names.own(name), self._client)
        shared = list(chain.from_iterable(self._shared_fields(queue)))
        of_each = chain.from_iterable(map(self._fields_of, orders))
        keys = (queue.redis_queues_keys, queue.key)
        return int(self._submit(keys=keys, args=(RQ_KEY_PREFIX, len(shared), *shared, *of_each)))

    def _shared_fields(self, queue: Queue) -> Iterable[tuple[str, Any]]:
        """Return the fields that RQ would save for any job that is queued now."""
        job = queue.create_job(
            FUNCTION,
            timeout=self._timeout,
            result_ttl=self._result_ttl,
            failure_ttl=self._failure_ttl,
            status=JobStatus.QUEUED,
        )
        job.origin, job.enqueued_at = queue.name, now()
        return ((name, value) for name, value in job.to_dict().items() if name not in {"data", "description"})

    def _fields_of(self, order: JobSpec) -> tuple[str, bytes, str, str]:
        """Return a job's id, call and description, and the id of the job that it displaces."""
        own, own_id = self._names.own, self._names.own_id
        call = encode_call(own(order.worker), order.ref.priority.value, order.ref.entry, order.attempt)
        # Of each delivery, the jobs of the last attempts are kept.
        old = order.attempt - MOST
        outdated = own_id(job_id(order.worker, order.event_id, old)) if old > 0 else ""
        return own_id(order.id), call, own(order.description), outdated

    def backlog(self, worker: str, line: QueueKind) -> int:
        with translated():
            return int(self._client.llen(self._key(line.queue(worker))))

    def is_waiting(self, order: JobSpec) -> bool:
        # Look into the list: the job's status is still "queued" if the worker that took it has died since.
        with translated():
            return self._client.lpos(self._key(order.queue), self._names.own_id(order.id)) is not None

    def _key(self, queue: str) -> str:
        return Queue.redis_queue_namespace_prefix + self._names.own(queue)
