"""RQ bookkeeping for many jobs that run concurrently in one process.

RQ's own worker writes it one job at a time, in some ten round trips. Here one script writes the same entries for all
jobs that start, continue or end together. Everything that a dashboard shows is written.

The entries are for people to look at. An attempt whose job could not be recorded is over all the same, and its delivery
is safe in the stream.
"""

import threading
import traceback
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Generic, TypeVar
from uuid import uuid4

import redis
import structlog
from rq.defaults import DEFAULT_RESULT_TTL, RQ_KEY_PREFIX
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.utils import now, utcformat
from rq.worker import BaseWorker

from nous.domain.errors import NousError
from nous.jobs.rq.job import AllowListedJob
from nous.redaction.secrets import masked
from nous.redis_support.scripts import register

_OVERDUE = 90
"""Seconds without a heartbeat until RQ considers a job abandoned, as RQ's own worker sets it."""
_KEPT = 1000
"""Jobs kept for a retry. Beyond that, the oldest are left to RQ's maintenance."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that this process has started; *data* is its call, as RQ saved it."""

    id: str
    execution: str
    queue: Queue
    began: datetime
    data: bytes


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that has returned, with the time and the returned text."""

    job: StartedJob
    ended: datetime
    said: str


class Batcher(Generic[T]):
    """Batches the items of several threads, and calls *carry_out* with one batch at a time.

    The first thread processes its own item and those that others add until it is done, so the others need not wait. The
    busier the process, the larger the batches. *most* limits the items per batch. (Known as flat combining: Hendler,
    Incze, Shavit, Tzafrir 2010.)
    """

    def __init__(self, carry_out: Callable[[Sequence[T]], object], *, most: int = 64) -> None:
        self._carry_out = carry_out
        self._most = most
        self._waiting: deque[T] = deque()
        self._lock = threading.Lock()

    def __call__(self, item: T) -> None:
        """Add *item* and process what waits, unless another thread is doing so."""
        self._waiting.append(item)
        # Check again after each batch, once the lock is free: else an item added in between would never be processed.
        while self._waiting and self._lock.acquire(blocking=False):
            try:
                self._carry_out(_drained(self._waiting, self._most))
            finally:
                self._lock.release()


class JobBookkeeper:
    """Records in RQ which jobs a worker runs, and how they ended. Thread-safe.

    Results that could not be recorded are kept for a retry.
    """

    def __init__(self, worker: BaseWorker, client: redis.Redis) -> None:
        self._worker = worker
        self._client = client
        self._keys = (worker.key, worker.executions_key)
        names = ("begin", "beat", "finish")
        self._begin, self._beat, self._finish = (register(client, "nous.jobs.rq", name) for name in names)
        self._batcher = Batcher(self._file)
        self._late: deque[FinishedJob] = deque(maxlen=_KEPT)

    def begin(self, queue: Queue, *, most: int) -> list[StartedJob]:
        """Take up to *most* jobs from *queue*, oldest first, and mark them as started."""
        at = now()
        found: Any = self._begin(
            keys=(queue.key, StartedJobRegistry(queue=queue).key, self._keys[1]),
            args=(
                *(RQ_KEY_PREFIX, self._worker.name, utcformat(at), at.timestamp(), _OVERDUE),
                *(uuid4().hex for _ in range(most)),
            ),
        )
        return [StartedJob(job_id.decode(), execution.decode(), queue, at, data) for job_id, execution, data in found]

    def beat(self, running: Iterable[StartedJob]) -> None:
        """Send a heartbeat for the running jobs."""
        at = now()
        names = chain.from_iterable((job.id, job.execution, job.queue.name) for job in running)
        self._beat(args=(RQ_KEY_PREFIX, utcformat(at), at.timestamp(), _OVERDUE, *names))

    def finish(self, returned: Iterable[FinishedJob]) -> None:
        """Mark jobs as finished and save their results. Idempotent."""
        words = chain.from_iterable(map(_script_arguments, returned))
        self._finish(keys=self._keys, args=(RQ_KEY_PREFIX, self._worker.name, DEFAULT_RESULT_TTL, *words))

    def returned(self, job: StartedJob, said: str) -> None:
        """Record a job whose attempt returned."""
        self._batcher(FinishedJob(job, now(), said))

    def failed(self, begun: StartedJob, error: BaseException) -> None:
        """Record a job as failed, with its traceback.

        This is rare, so RQ's own code does it. A job that cannot be recorded is left to RQ's maintenance, which records
        it as failed, too.
        """
        try:
            job: Any = AllowListedJob.fetch(begun.id, self._client, JSONSerializer)
            self._file_failure(job, begun, error)
        except (NoSuchJobError, redis.RedisError) as trouble:
            self._warn([begun], trouble)

    def retry_pending(self) -> None:
        """Record what could not be recorded before."""
        if late := _drained(self._late):
            self._file(late)

    def _file(self, returned: Sequence[FinishedJob]) -> None:
        try:
            self.finish(returned)
        except redis.RedisError as error:
            self._late.extend(returned)
            self._warn([each.job for each in returned], error)

    def _file_failure(self, job: Any, begun: StartedJob, error: BaseException) -> None:
        job.started_at, job.ended_at = begun.began, now()
        execution = Execution(begun.execution, begun.id, self._client, self._worker.name)
        execution.created_at = begun.began
        text = masked("".join(traceback.format_exception(error)))
        if not isinstance(error, NousError):  # our own errors were logged where they were handled
            self._worker.handle_exception(job, type(error), error, error.__traceback__)
        self._worker.handle_job_failure(job, begun.queue, exc_string=text, execution=execution)

    def _warn(self, jobs: Sequence[StartedJob], error: Exception) -> None:
        log.warning("rq_bookkeeping.failed", jobs=[job.id for job in jobs], error=str(error))


def _script_arguments(each: FinishedJob) -> tuple[str | float | bytes, ...]:
    job = each.job
    began, ended = job.began.timestamp(), each.ended.timestamp()
    value = b64encode(JSONSerializer.dumps(each.said))
    return job.id, job.execution, job.queue.name, began, ended, utcformat(each.ended), value


def _drained(queue: deque[T], most: int = _KEPT) -> list[T]:
    return [queue.popleft() for _ in range(min(len(queue), most))]
