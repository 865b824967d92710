"""The queue for events that may kill their process: a forking RQ worker, one job a process, one at a time.

An event comes here after two crashes that may have been its neighbour's fault. Here it is alone: when its process dies
and this one does not, the event is to blame.
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
from typing_extensions import override

from nous.domain.errors import Fatal
from nous.jobs.base import Line, Runner
from nous.jobs.rq.job import AllowListedJob, words_in
from nous.jobs.rq.queue import queue_named
from nous.jobs.rq.worker_stats import PLACE, here

log = structlog.get_logger(__name__)

Blame = Callable[[str, str, str, int], None]
"""Told (worker, lane, entry, attempt) when the process of an attempt has died."""

_ASKED = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals by which somebody asks a process to end. What kills its own dies of others, or of none."""


class QuarantineWorker(Worker):
    """A stock RQ worker whose jobs, in the process that is forked for each, find the world at hand."""

    runner: Runner
    looks = 0
    """How often this process has looked whether its job hangs; it looks at no other meanwhile."""

    def is_to_blame(self, job: Job, status: int | None) -> bool:
        """Whether the job, whose process came to an end with that *status*, killed it; none is told of one that hung.

        RQ takes a job for hung by the clock on the wall, which goes on while a machine sleeps, or all of a container is
        paused. So only one that was looked at for as long as it may take has hung.
        """
        if status is None:
            allowed: Any = job.timeout
            return self.looks * self.job_monitoring_interval >= allowed
        return not (os.WIFSIGNALED(status) and os.WTERMSIG(status) in _ASKED)

    @override
    def monitor_work_horse(self, job: Job, queue: Queue, execution: Execution) -> None:
        self.looks = 0
        super().monitor_work_horse(job, queue, execution)

    @override
    def maintain_heartbeats(self, job: Job, execution: Execution) -> None:
        self.looks += 1
        super().maintain_heartbeats(job, execution)

    @override
    def serialize(self) -> dict[str, Any]:
        """What RQ writes down of a worker, and the place in which its pid names it."""
        return {**super().serialize(), PLACE: here()}

    def perform_job(self, job: Any, queue: Queue, execution: Execution) -> bool:
        job.runner = self.runner
        try:
            return super().perform_job(job, queue, execution)
        except redis.RedisError as error:
            # RQ would end this process as if it had died, and blame the event for a server that is full or out.
            log.warning("a job's end could not be filed", job_id=job.id, error=str(error))
            return False


def run_quarantine(worker: str, *, client: redis.Redis, name: str, runner: Runner, blame: Blame) -> None:
    """Run what stands in the worker's quarantine queue, each job in a process of its own, until it is empty.

    *worker* is what its installation calls it.
    """

    def on_death(job: Job, _pid: int | None, status: int | None, *_usage: Any) -> None:
        if not quarantine.is_to_blame(job, status):
            log.warning("a job was ended by whoever ends or stops a service, or by a machine's sleep", job_id=job.id)
            return
        try:
            blame(*words_in(job.data))
        except Fatal as error:  # somebody else's job: it is filed as failed, and there is nobody to blame
            log.warning("a job died that is not ours", job_id=job.id, error=str(error))

    quarantine = QuarantineWorker(
        [queue_named(Line.QUARANTINE.queue(worker), client)],
        name=name,
        connection=client,
        job_class=AllowListedJob,
        serializer=JSONSerializer,
        work_horse_killed_handler=on_death,
    )
    quarantine.runner = runner
    quarantine.work(burst=True, logging_level=None)
