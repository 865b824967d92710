"""RQ's books, kept for jobs that run beside each other in one process.

RQ's own worker writes them a job at a time, in some ten round trips. Here one script writes the same entries for
all the jobs that begin, go on or end at a time. Nothing is left out that a dashboard shows.

RQ's books are for people to look at. An attempt whose job could not be filed is over all the same, and its delivery is
safe in the stream.
"""

import traceback
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar
from uuid import uuid4

import redis
import structlog
from rq.defaults import DEFAULT_FAILURE_TTL, DEFAULT_RESULT_TTL, RQ_KEY_PREFIX
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import now, utcformat
from rq.worker import BaseWorker

from nous.domain.errors import NousError
from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.thread_pool import Gather
from nous.redaction.secrets import masked
from nous.redis_support.scripts import register

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
        names = ("begin", "beat", "finish")
        self._begin, self._beat, self._finish = (register(client, "nous.jobs.rq", name) for name in names)

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


_KEPT = 1000
"""Jobs that are kept to be filed again; of more, the oldest are left to RQ's housekeeping."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Filing:
    """Files the jobs that one worker has run. Threads may share it."""

    def __init__(self, worker: BaseWorker, books: Books, client: redis.Redis) -> None:
        self._worker = worker
        self._books = books
        self._client = client
        self._together = Gather(self._file)
        self._late: deque[Returned] = deque(maxlen=_KEPT)
        self._late_failures: deque[tuple[Begun, BaseException]] = deque(maxlen=_KEPT)

    def returned(self, job: Begun, said: str) -> None:
        """File a job whose attempt came to its end."""
        self._together(Returned(job, now(), said))

    def failed(self, begun: Begun, error: BaseException) -> None:
        """File a job as failed, with its traceback: rare, and so left to RQ."""
        try:
            job: Any = AllowListedJob.fetch(begun.id, self._client, JSONSerializer)
            self._file_failure(job, begun, error)
        except NoSuchJobError as trouble:
            self._warn([begun], trouble)
        except redis.RedisError as trouble:
            self._late_failures.append((begun, error))
            self._warn([begun], trouble)
        except (
            Exception
        ) as trouble:  # whatever a foreign job holds: it is struck, and the others are filed all the same
            log.warning("RQ's books could not be written", jobs=[begun.id], exc_info=trouble)
            self._books.strike(begun)

    def again(self) -> None:
        """File once more what could not be filed before."""
        if late := _emptied(self._late):
            self._file(late)
        for job, error in _emptied(self._late_failures):
            self.failed(job, error)

    def _file(self, returned: Sequence[Returned]) -> None:
        try:
            failures = self._books.finish(returned)
        except redis.RedisError as error:
            self._late.extend(returned)
            self._warn([each.job for each in returned], error)
        else:
            self._late.extend(each for each in returned if each.job.id in failures)
            for job_id, error in failures.items():
                log.warning("RQ's books could not be written", jobs=[job_id], error=error)

    def _file_failure(self, job: Any, begun: Begun, error: BaseException) -> None:
        job.started_at, job.ended_at = begun.began, now()
        job.origin = begun.queue.name  # whatever somebody has written there: it was taken from this one
        execution = Execution(begun.execution, begun.id, self._client, self._worker.name)
        execution.created_at = begun.began
        text = masked("".join(traceback.format_exception(error)))
        if not isinstance(error, NousError):  # what we raise ourselves was logged with all that follows from it
            self._worker.handle_exception(job, type(error), error, error.__traceback__)
        self._worker.handle_job_failure(job, begun.queue, exc_string=text, execution=execution)

    def _warn(self, jobs: Sequence[Begun], error: Exception) -> None:
        log.warning("RQ's books could not be written", jobs=[job.id for job in jobs], error=str(error))


def _emptied(queue: deque[T]) -> list[T]:
    return [queue.popleft() for _ in range(len(queue))]
