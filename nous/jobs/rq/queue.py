"""Submit, count, find and delete attempts as RQ jobs; list live RQ workers and their queues.

What lists and counts writes nothing to Redis, so it works while the server cannot write, too. RQ's registries clean up
when asked to count, and cleaning up moves jobs; its list of workers removes those whose keys have expired. Here their
keys are read instead.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

import redis
from rq.defaults import RQ_KEY_PREFIX
from rq.job import Job, JobStatus
from rq.queue import Queue
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import now
from rq.worker import BaseWorker
from rq.worker_registration import get_keys

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


class RqErasure:
    """Deletes jobs of this installation, and results of earlier ones; running jobs go on."""

    def __init__(self, client: redis.Redis, names: JobNames) -> None:
        self._client: Any = client  # replies are narrowed where they are read
        self._names = names

    def erase(
        self, events: Collection[UUID], *, session_id: str | None, but: Collection[UUID], dry_run: bool = False
    ) -> int:
        """Delete the jobs of *events* and of a session, except *but*; *dry_run* only counts them."""
        found = [
            (worker, job_id)
            for worker, job_id, event in self._known()
            if self._is_selected(job_id, event, events, session_id, but)
        ]
        if not dry_run:
            for worker, job_id in found:
                self._remove(worker, job_id)
        return len(found)

    def _known(self) -> Iterator[tuple[str, str, UUID]]:
        beginnings = (Job.key_for(""), f"{RQ_KEY_PREFIX}:results:")
        with translated():
            names = {
                key.decode().removeprefix(beginning)
                for beginning in beginnings
                for key in self._client.scan_iter(f"{beginning}*", count=1000)
            }
        for name in sorted(names):
            if attempt := self._names.attempt_of(name):
                yield attempt[0], name, attempt[1]

    def _is_selected(
        self, job_id: str, event: UUID, events: Collection[UUID], session_id: str | None, but: Collection[UUID]
    ) -> bool:
        if event in events:
            return True
        if session_id is None or event in but:
            return False
        with translated():
            description: bytes | None = self._client.hget(Job.key_for(job_id), "description")
        session = (description or b"").decode(errors="replace").partition(" of session ")[2]
        return session == session_id or session.startswith(f"{session_id}, attempt ")

    def _remove(self, worker: str, job_id: str) -> None:
        key = Job.key_for(job_id)
        executions = f"{RQ_KEY_PREFIX}:executions:{job_id}"
        with translated():
            origin: bytes | None = self._client.hget(key, "origin")
            queue = queue_named(origin.decode() if origin else self._names.own(worker), self._client)
            running = [f"{job_id}:{each.decode()}" for each in self._client.zrange(executions, 0, -1)]
            with self._client.pipeline() as pipe:
                pipe.lrem(queue.key, 0, job_id)
                for registry in (FinishedJobRegistry, FailedJobRegistry):
                    pipe.zrem(registry(queue=queue).key, job_id)
                for execution in running:
                    pipe.zrem(StartedJobRegistry(queue=queue).key, execution)
                    pipe.unlink(f"{RQ_KEY_PREFIX}:execution:{execution}")
                pipe.unlink(key, executions, f"{RQ_KEY_PREFIX}:results:{job_id}")
                pipe.execute()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """An RQ worker that lives, as far as can be seen; a process may run several."""

    name: str
    queues: tuple[str, ...]
    state: str
    pid: int
    host: str

    @property
    def is_dispatching(self) -> bool:
        """Return whether it is a `nous worker` (named by queue, host, process), which dispatches."""
        return self.name.startswith(f"{self.queues[0]}-{self.host}-{self.pid}-")


def queues_of(worker: str, client: redis.Redis) -> list[dict[str, str | int]]:
    """Return the job counts of the queues of *worker* (with prefix), the default one first.

    Ended jobs count as long as RQ keeps them.
    """
    return [_counted(line.queue(worker), client) for line in QueueKind]


def workers_seen(client: redis.Redis, names: JobNames | None = None) -> list[WorkerSeen]:
    """Return every live RQ worker, sorted by name; with *names* only those of one installation.

    A worker counts as alive until its key expires, since no heartbeat came: ours for a minute, RQ's own for eight.
    """
    with translated():
        keys = sorted(get_keys(connection=client))
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            rows: list[Any] = pipe.execute()
    # Without a birth, its key has expired, and only counters were added since.
    found = [_seen(key, row) for key, row in zip(keys, rows, strict=True) if b"birth" in row]
    return [each for each in found if names is None or names.owns_any(each.queues)]


def dispatched(workers: Iterable[WorkerSeen]) -> Iterator[str]:
    """Yield the queues for which *workers* dispatch, once for each worker."""
    return (queue for each in workers if each.is_dispatching for queue in each.queues)


def _seen(key: str, row: Mapping[bytes, bytes]) -> WorkerSeen:
    found = {name.decode(): value.decode() for name, value in row.items()}
    return WorkerSeen(
        name=key.removeprefix(BaseWorker.redis_worker_namespace_prefix),
        queues=tuple(found["queues"].split(",")),
        state=found.get("state", "?"),
        pid=int(found["pid"]),
        host=found["hostname"],
    )


def _counted(name: str, client: Any) -> dict[str, str | int]:
    queue = queue_named(name, client)
    keys = [registry(queue=queue).key for registry in (StartedJobRegistry, FinishedJobRegistry, FailedJobRegistry)]
    with translated():
        started, finished, failed = (int(client.zcard(key)) for key in keys)
        queued = int(client.llen(queue.key))
    return {"name": name, "queued": queued, "started": started, "finished": finished, "failed": failed}
