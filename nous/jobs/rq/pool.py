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
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.worker import WorkerStatus

from nous.jobs.base import Runner
from nous.jobs.rq.books import BookKeeper
from nous.jobs.rq.job import AllowListedJob

_LISTEN = 1
"""Seconds to block on an empty queue, and so the longest time until a stop, or work in the second queue, is seen."""
_HANDFUL = 16
"""Jobs that are taken at once: enough to share the round trips, and little to be submitted again if this dies."""
_BEAT = 15.0
_RECONNECT = 1.0
_OUTAGES = (redis.ConnectionError, redis.TimeoutError)

log = structlog.get_logger(__name__)

Taken = tuple[Job, Queue]


class PoolWorker(BookKeeper):
    """Runs the jobs of its queues, those of the first before those of the second, up to *concurrency* at a time."""

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
                    self._survive(threads)
                self._drain()
        finally:
            self.teardown()

    def _survive(self, threads: ThreadPoolExecutor) -> None:
        """Take a step; whatever goes wrong with the server, or with what somebody put into a queue, is not the end."""
        try:
            self._step(threads)
        except _OUTAGES as error:
            log.warning("Redis did not answer; trying again", rq_worker=self.name, error=str(error))
            self._stopping.wait(_RECONNECT)
        except Exception:  # the outermost loop: a pool that dies leaves a worker that looks healthy
            log.exception("the pool stumbled over what it took from a queue", rq_worker=self.name)
            self._stopping.wait(_RECONNECT)

    def _step(self, threads: ThreadPoolExecutor) -> None:
        """Start some jobs, or find after a moment that there are none, or no threads for them."""
        self._beat()
        free = self._concurrency - len(self._running)
        if free <= 0:
            wait(list(self._running), timeout=_LISTEN, return_when=FIRST_COMPLETED)
        elif taken := self._take(min(free, _HANDFUL)):
            for (job, queue), execution in zip(taken, self.begin(taken), strict=True):
                future = threads.submit(self._perform, job, queue, execution)
                self._running[future] = (job, execution)
                future.add_done_callback(self._running.pop)
        elif not self._running and self.get_state() != WorkerStatus.IDLE:
            self.set_state(WorkerStatus.IDLE)

    def _take(self, most: int) -> list[Taken]:
        """Up to *most* jobs of the first queue that has any."""
        for queue in self.queues:
            if ids := self._pop(queue, most):
                return self._fetched(ids, queue)
        first = self.queues[0]
        job_id: Any = self.connection.blmove(first.key, first.intermediate_queue_key, _LISTEN)
        return self._fetched([job_id], first) if job_id else []

    def _pop(self, queue: Queue, most: int) -> list[bytes]:
        """Move ids to the intermediate list, where RQ's housekeeping finds them if this process dies right now."""
        with self.connection.pipeline(transaction=False) as pipe:
            for _ in range(most):
                pipe.lmove(queue.key, queue.intermediate_queue_key)
            return [job_id for job_id in pipe.execute() if job_id]

    def _fetched(self, ids: Sequence[bytes], queue: Queue) -> list[Taken]:
        """The jobs of these ids; one whose hash is gone (expired, or deleted by hand) is passed over, as RQ does."""
        jobs = AllowListedJob.fetch_many([each.decode() for each in ids], self.connection, JSONSerializer)
        return [(job, queue) for job in jobs if job]

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
