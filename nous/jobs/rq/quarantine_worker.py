"""Run quarantined RQ jobs one by one, each in a forked process; report those that kill it.

An event is quarantined after two crashes that a neighbour may have caused. Here it runs alone. When its process dies
and this one does not, the event is the cause (a poison message).
"""

import os
import signal
from collections.abc import Callable
from typing import Any

import redis
import structlog
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.worker import Worker

from nous.jobs.base import QueueKind, Runner
from nous.jobs.rq.job import AllowListedJob, decode_call
from nous.jobs.rq.queue import queue_named

log = structlog.get_logger(__name__)

_ASKED = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals by which an operator or a supervisor ends a process. A poison event uses others, or none."""


class QuarantineWorker(Worker):
    """Stock RQ worker whose forked jobs use the application that is already built."""

    runner: Runner

    def perform_job(self, job: Any, queue: Queue, execution: Execution) -> bool:
        job.runner = self.runner
        try:
            return super().perform_job(job, queue, execution)
        except redis.RedisError as error:
            # RQ would exit with an error, and the event would be blamed for a server that is full or down.
            log.warning("quarantine.result_not_recorded", job_id=job.id, error=str(error))
            return False


def is_to_blame(status: int | None) -> bool:
    """Return whether a job killed its process; the exit *status* is None for one that hung."""
    return status is None or not (os.WIFSIGNALED(status) and os.WTERMSIG(status) in _ASKED)


def run_quarantine(
    worker: str, *, client: redis.Redis, name: str, runner: Runner, blame: Callable[[str, str, str, int], None]
) -> None:
    """Run a worker's quarantined jobs, each in its own process, until there is none.

    *worker* is its name with the installation's prefix. *blame* is called for each attempt that killed its process.
    """

    def on_death(job: Job, _pid: int | None, status: int | None, *_usage: Any) -> None:
        if is_to_blame(status):
            blame(*decode_call(job.data))
        else:
            hint = "the process was stopped from outside; the event is not blamed"
            log.warning("quarantine.job_interrupted", job_id=job.id, hint=hint)

    quarantine = QuarantineWorker(
        [queue_named(QueueKind.QUARANTINE.queue(worker), client)],
        name=name,
        connection=client,
        job_class=AllowListedJob,
        serializer=JSONSerializer,
        work_horse_killed_handler=on_death,
    )
    quarantine.runner = runner
    quarantine.work(burst=True, logging_level=None)
