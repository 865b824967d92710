"""An RQ worker with many jobs in flight in one process: a thread each, for handlers that mostly wait.

RQ's fork-per-job worker needs a process for every job in flight. This one keeps RQ's books in the same way, so its
dashboards see queues, workers and running jobs as they know them, but runs the jobs on threads.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import redis
import structlog
from rq.exceptions import DequeueTimeout
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.worker import BaseWorker, WorkerStatus

from nous.jobs.base import Runner
from nous.jobs.rq.job import AllowListedJob

_LISTEN = 1
"""Seconds to block on an empty queue, and so the longest time until a stop, or work in the second queue, is seen."""
_BEAT = 15.0
_RECONNECT = 1.0
_OUTAGES = (redis.ConnectionError, redis.TimeoutError)

log = structlog.get_logger(__name__)


class NoPenalty(BaseDeathPenalty):
    """No alarm: SIGALRM reaches the main thread only. A handler's deadline is kept by its lease instead."""

    def setup_death_penalty(self) -> None: ...

    def cancel_death_penalty(self) -> None: ...


class PoolWorker(BaseWorker):
    """Runs the jobs of its queues, those of the first before those of the second, up to *concurrency* at a time."""

    death_penalty_class = NoPenalty
    log_result_lifespan = False

    def __init__(
        self, queues: Sequence[Queue], *, name: str, connection: redis.Redis, runner: Runner, concurrency: int
    ) -> None:
        super().__init__(
            list(queues), name=name, connection=connection, job_class=AllowListedJob, serializer=JSONSerializer
        )
        self._runner = runner
        self._concurrency = concurrency
        self._running: dict[Future[None], tuple[Job, Execution]] = {}
        self._stopping = threading.Event()
        self._beat_at = 0.0

    def stop(self) -> None:
        """Take no more jobs, and let `run` return when those in flight have ended."""
        self._stop_requested = True
        self._stopping.set()

    def run(self) -> None:
        """Take and run jobs until `stop`; then wait for those in flight."""
        self.bootstrap(logging_level=None)
        try:
            with ThreadPoolExecutor(self._concurrency, thread_name_prefix=self.name) as threads:
                while not self._stopping.is_set():
                    self._survive_outages(threads)
                self._drain()
        finally:
            self.teardown()

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = False) -> None:  # noqa: FBT001, FBT002 (RQ's signature)
        """Mark the job as started. RQ forgets the intermediate list where a worker has two queues; this one may not."""
        del remove_from_intermediate_queue
        super().prepare_job_execution(job, True)  # noqa: FBT003 (RQ's signature)

    def _survive_outages(self, threads: ThreadPoolExecutor) -> None:
        try:
            self._step(threads)
        except _OUTAGES as error:
            log.warning("Redis did not answer; trying again", rq_worker=self.name, error=str(error))
            self._stopping.wait(_RECONNECT)

    def _step(self, threads: ThreadPoolExecutor) -> None:
        """Start one job, or find after a moment that there is none, or no thread for it."""
        self._beat()
        if len(self._running) >= self._concurrency:
            wait(list(self._running), timeout=_LISTEN, return_when=FIRST_COMPLETED)
            return
        if job := self._next_job():
            execution = self.prepare_execution(job[0])
            future = threads.submit(self._perform, *job, execution)
            self._running[future] = (job[0], execution)
            future.add_done_callback(self._running.pop)
        elif not self._running and self.get_state() != WorkerStatus.IDLE:
            self.set_state(WorkerStatus.IDLE)

    def _next_job(self) -> tuple[Job, Queue] | None:
        for queue in self.queues:
            if job := self._dequeue(queue, timeout=None):
                return job
        try:
            return self._dequeue(self.queues[0], timeout=_LISTEN)
        except DequeueTimeout:
            return None

    def _dequeue(self, queue: Queue, *, timeout: int | None) -> tuple[Job, Queue] | None:
        # One queue a call: with two, RQ pops without the intermediate list that keeps a job whose taker dies.
        return self.queue_class.dequeue_any(
            [queue], timeout, connection=self.connection, job_class=AllowListedJob, serializer=JSONSerializer
        )

    def _perform(self, job: Any, queue: Queue, execution: Execution) -> None:
        job.runner = self._runner
        try:
            self.perform_job(job, queue, execution)
        except _OUTAGES as error:
            # The attempt is over and its delivery is safe in the stream; only RQ's own books are behind.
            log.warning("RQ's books could not be written", job=job.id, error=str(error))

    def _beat(self) -> None:
        """Tell RQ now and then that this worker and its jobs live, and let it keep house."""
        if time.monotonic() - self._beat_at < _BEAT:
            return
        self._beat_at = time.monotonic()
        self.check_for_suspension(burst=False)
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()
        self.heartbeat()
        for job, execution in list(self._running.values()):
            self.maintain_heartbeats(job, execution)

    def _drain(self) -> None:
        while self._running:
            wait(list(self._running), timeout=_LISTEN)
            self._beat()
