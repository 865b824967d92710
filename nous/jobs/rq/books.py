"""RQ's books, kept for jobs that run beside each other in one process.

RQ's own worker writes them a job at a time, in some ten round trips. Here one script writes the same entries for
all the jobs that begin, go on or end at a time. Nothing is left out that a dashboard shows.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import uuid4

import redis
from rq.defaults import DEFAULT_FAILURE_TTL, DEFAULT_RESULT_TTL, RQ_KEY_PREFIX
from rq.job import Job, JobStatus
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import now, utcformat
from rq.worker import BaseWorker

from nous.jobs.rq.scripts import script

_OVERDUE = 90
"""Seconds without a heartbeat until RQ takes a job for abandoned, as RQ's own worker sets it."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A job that this process has begun. *data* is the call it asks for, as RQ saved it."""

    id: str
    execution: str
    queue: Queue
    began: datetime
    data: bytes


@dataclass(frozen=True, slots=True)
class Returned:
    """A job that has come to its end, when, and what it said."""

    job: Begun
    ended: datetime
    said: str


class Books:
    """Says to RQ which jobs a worker runs, and what became of them. Threads may share it."""

    def __init__(self, worker: BaseWorker, client: redis.Redis) -> None:
        self._client = client
        self._name = worker.name
        self._keys = (worker.key, worker.executions_key)
        self._begin, self._beat, self._finish = (script(name, client) for name in ("begin", "beat", "finish"))

    def begin(self, queue: Queue, *, most: int) -> list[Begun]:
        """Take up to *most* jobs from *queue*, the oldest first, and say that they have begun."""
        at = now()
        found: Any = self._begin(
            keys=(queue.key, StartedJobRegistry(queue=queue).key, self._keys[1]),
            args=(
                *(RQ_KEY_PREFIX, self._name, utcformat(at), at.timestamp(), _OVERDUE),
                *(uuid4().hex for _ in range(most)),
            ),
        )
        return [Begun(job_id.decode(), execution.decode(), queue, at, data) for job_id, execution, data in found]

    def beat(self, running: Iterable[Begun]) -> None:
        """Say that these jobs still run."""
        at = now()
        names = chain.from_iterable((job.id, job.execution, job.queue.name) for job in running)
        self._beat(args=(RQ_KEY_PREFIX, utcformat(at), at.timestamp(), _OVERDUE, *names))

    def finish(self, returned: Sequence[Returned]) -> dict[str, str]:
        """Close the books of jobs that returned; doing so again is harmless.

        Returns what is wrong, by the job's id, with those that cannot be filed.
        """
        words = chain.from_iterable(map(_spelled, returned))
        found: Any = self._finish(keys=self._keys, args=(RQ_KEY_PREFIX, self._name, DEFAULT_RESULT_TTL, *words))
        return {job_id.decode(): error.decode() for job_id, error in zip(found[::2], found[1::2], strict=True)}

    def strike(self, job: Begun) -> None:
        """Mark a job as failed that RQ cannot even read, so that it does not stand in the way of its housekeeping."""
        name = f"{job.id}:{job.execution}"
        with self._client.pipeline() as pipe:
            pipe.delete(f"{RQ_KEY_PREFIX}:execution:{name}", f"{RQ_KEY_PREFIX}:executions:{job.id}")
            pipe.zrem(StartedJobRegistry(queue=job.queue).key, name)
            pipe.srem(self._keys[1], name)
            pipe.hset(Job.key_for(job.id), mapping={"status": JobStatus.FAILED, "ended_at": utcformat(now())})
            pipe.expire(Job.key_for(job.id), DEFAULT_FAILURE_TTL)
            pipe.execute()


def _spelled(each: Returned) -> tuple[str | float | bytes, ...]:
    job = each.job
    began, ended = job.began.timestamp(), each.ended.timestamp()
    value = b64encode(JSONSerializer.dumps(each.said))
    return job.id, job.execution, job.queue.name, began, ended, utcformat(each.ended), value
