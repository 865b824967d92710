"""Take RQ jobs from a queue in batches; record their start, heartbeats and outcomes in RQ.

RQ's own worker writes them in some ten round trips a job. Here one script per step writes the same entries, so that
dashboards show the same.

The entries are for people to look at. An attempt whose job could not be recorded is over all the same, and its delivery
is safe in the stream.
"""

import traceback
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
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

from nous.backoff import retry_until_deadline
from nous.domain.errors import NousError
from nous.jobs.rq.job import AllowListedJob
from nous.redaction.redactor import masked
from nous.redis_support.errors import translated
from nous.redis_support.scripts import register

_OVERDUE = 90  # seconds without a heartbeat until RQ considers a job abandoned, as RQ's own worker sets it
_PATIENCE = 60.0
"""Seconds for which a result is offered to a server that is down. Until then, RQ considers the job as running."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that this process has started; *data* is its call, as RQ saved it."""

    id: str
    execution: str
    queue: Queue
    began: datetime
    data: bytes


class JobBookkeeper:
    """Records in RQ which jobs a worker runs, and how they ended. Thread-safe."""

    def __init__(self, worker: BaseWorker, client: redis.Redis) -> None:
        self._worker = worker
        self._client = client
        self._keys = (worker.key, worker.executions_key)
        names = ("begin", "beat", "finish")
        self._begin, self._beat, self._finish = (register(client, "nous.jobs.rq", name) for name in names)

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
        at = now()
        names = chain.from_iterable((job.id, job.execution, job.queue.name) for job in running)
        self._beat(args=(RQ_KEY_PREFIX, utcformat(at), at.timestamp(), _OVERDUE, *names))

    def returned(self, job: StartedJob, said: str) -> None:
        """Mark a job as finished and save its result. Idempotent; retried while the server is down."""
        ended, value = now(), b64encode(JSONSerializer.dumps(said))
        times = job.began.timestamp(), ended.timestamp(), utcformat(ended)
        worker = RQ_KEY_PREFIX, self._worker.name, DEFAULT_RESULT_TTL

        def record() -> None:
            with translated():
                self._finish(keys=self._keys, args=(*worker, job.id, job.execution, job.queue.name, *times, value))

        try:
            retry_until_deadline(record, seconds=_PATIENCE)
        except NousError as error:
            log.warning("rq_bookkeeping.failed", job_id=job.id, error=str(error))

    def failed(self, begun: StartedJob, error: BaseException) -> None:
        """Record a job as failed, by RQ's own code. Otherwise RQ's maintenance does so later."""
        execution = Execution(begun.execution, begun.id, self._client, self._worker.name)
        execution.created_at = begun.began
        text = masked("".join(traceback.format_exception(error)))
        try:
            job: Any = AllowListedJob.fetch(begun.id, self._client, JSONSerializer)
            job.started_at, job.ended_at = begun.began, now()
            if not isinstance(error, NousError):  # our own errors were logged where they were handled
                self._worker.handle_exception(job, type(error), error, error.__traceback__)
            self._worker.handle_job_failure(job, begun.queue, exc_string=text, execution=execution)
        except (NoSuchJobError, redis.RedisError) as trouble:
            log.warning("rq_bookkeeping.failed", job_id=begun.id, error=str(trouble))
