"""RQ workers: one runs many jobs on threads, one forks for each quarantined job.

The first suits handlers that mostly wait for I/O: RQ's fork-per-job worker needs a process for every job in flight. It
keeps RQ's bookkeeping, which RQ's own worker writes in some ten round trips a job, by one script per step. So
dashboards see queues, workers and running jobs as usual. These entries are for people to look at: an attempt whose job
could not be recorded is over all the same, and its delivery is safe in the stream.

An event is quarantined after two crashes that a neighbour may have caused. There it runs alone. When its process dies
and its parent does not, the event is the cause (a poison message).
"""

import os
import signal
import threading
import time
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from math import inf
from queue import SimpleQueue
from typing import Any
from uuid import uuid4

import redis
import structlog
from rq import worker_registration
from rq.defaults import DEFAULT_RESULT_TTL, RQ_KEY_PREFIX
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.suspension import is_suspended
from rq.utils import now, utcformat
from rq.worker import BaseWorker, Worker, WorkerStatus

from nous.backoff import RetryBackoff, retry_until_deadline
from nous.domain.errors import NousError
from nous.jobs.base import QueueKind, Runner
from nous.jobs.rq.job import AllowListedJob, decode_call
from nous.jobs.rq.queue import queue_named
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


_LISTEN = 1
"""Seconds to block on an empty queue. Also the longest time until a stop, or work in the second queue, is noticed."""
_BATCH = 16  # jobs taken at once: enough to share a round trip, and few to resubmit if this process dies
_BEAT = 15.0  # seconds between two heartbeats. Also the longest time until `rq suspend` or `rq resume` is noticed
_EXPIRES = 60  # seconds without a heartbeat after which this worker counts as dead
_GLANCE = 0.02
_AFTERGLOW = 2.0
"""Seconds after work in another queue than the first, in which the wait is short: Redis blocks on one queue only."""


class PoolWorker(BaseWorker):
    """Runs up to *concurrency* jobs at a time, each on a thread; the first queue has priority.

    A thread cannot be ended from outside. So a job that is not done after *give_up_after* seconds is recorded as
    failed, and another thread takes its place. The threads are daemons, so the process can exit while one hangs.
    """

    def __init__(
        self,
        queues: Sequence[Queue],
        *,
        name: str,
        connection: redis.Redis,
        runner: Runner,
        concurrency: int,
        give_up_after: float,
    ) -> None:
        super().__init__(
            list(queues), name=name, connection=connection, job_class=AllowListedJob, serializer=JSONSerializer
        )
        self._bookkeeper = JobBookkeeper(self, connection)
        self._runner = runner
        self._concurrency = concurrency
        self._give_up_after = give_up_after
        self._tasks: SimpleQueue[StartedJob | None] = SimpleQueue()
        self._threads = 0
        self._running: dict[str, tuple[StartedJob, float]] = {}
        self._has_room = threading.Event()
        self._stopping = threading.Event()
        self._beat_at = -inf
        self._is_suspended = False
        self._others_at = -_AFTERGLOW
        self._retry_backoff = RetryBackoff(f"pool {name}")

    def stop(self) -> None:
        self._stop_requested = True
        self._stopping.set()
        self._has_room.set()

    def run(self) -> None:
        """Take and run jobs until `stop`, then wait for those in flight."""
        try:
            while not self._stopping.is_set():
                self._survive(self._step)
            while self._running:
                self._survive(self._drain)
        finally:
            for _ in range(self._threads):
                self._tasks.put(None)
            if self.birth_date:
                self._survive(self.teardown)

    def _survive(self, step: Callable[[], None]) -> None:
        with self._retry_backoff.guard(), translated():
            step()
        self._stopping.wait(self._retry_backoff.wait)

    def _step(self) -> None:
        self._tend()
        room = self._concurrency - len(self._running)
        if room <= 0:
            self._has_room.wait(_LISTEN)
        elif self._is_suspended:
            self._say(WorkerStatus.SUSPENDED)
            self._stopping.wait(_LISTEN)
        elif not self._start(min(room, _BATCH)):
            self._idle()

    def _start(self, most: int) -> bool:
        for queue in self.queues:
            if begun := self._bookkeeper.begin(queue, most=most):
                self._running |= {job.execution: (job, time.monotonic()) for job in begun}
                for job in begun:
                    self._tasks.put(job)
                self._add_threads()
                if queue is not self.queues[0]:
                    self._others_at = time.monotonic()
                self._say(WorkerStatus.BUSY)
                return True
        return False

    def _idle(self) -> None:
        if not self._running:
            self._say(WorkerStatus.IDLE)
        connection: Any = self.connection  # its type allows whole seconds only, though it takes fractions
        key = self.queues[0].key
        seconds = _GLANCE if time.monotonic() - self._others_at < _AFTERGLOW else _LISTEN
        # From the head of the queue to its head: this blocks, and moves nothing.
        connection.blmove(key, key, seconds, "LEFT", "LEFT")

    def _say(self, state: WorkerStatus) -> None:
        if self.get_state() != state:
            self.set_state(state)

    def _add_threads(self) -> None:
        """Have a thread for each job in flight; the system may have refused to start one earlier."""
        while self._threads < len(self._running):
            threading.Thread(target=self._work, name=self.name, daemon=True).start()
            self._threads += 1

    def _work(self) -> None:
        while job := self._tasks.get():
            try:
                self._perform(job)
            except Exception:  # the outermost call of a thread: the error would be lost
                log.exception("rq_bookkeeping.failed", job_id=job.id)
            if self._running.pop(job.execution, None) is None:
                return  # the job was abandoned, and another thread has the place of this one
            self._has_room.set()

    def _perform(self, job: StartedJob) -> None:
        try:
            outcome = self._runner(*decode_call(job.data))
        except BaseException as error:  # noqa: BLE001 (a handler may even try to exit)
            if job.execution in self._running:
                self._bookkeeper.failed(job, error)
        else:
            if job.execution in self._running:
                self._bookkeeper.returned(job, outcome)

    def _give_up_overdue(self) -> None:
        """Abandon jobs whose handler hangs: their leases have expired, and other attempts run."""
        for job, since in list(self._running.values()):  # the oldest first
            if time.monotonic() - since < self._give_up_after:
                break
            if self._running.pop(job.execution, None):
                self._threads -= 1
                log.error("handler.hung", rq_worker=self.name, job_id=job.id, hint="its thread is abandoned")
                self._bookkeeper.failed(job, TimeoutError(f"not done after {self._give_up_after:g} s"))

    def _beat(self) -> None:
        if time.monotonic() - self._beat_at < _BEAT:
            return
        self._show_itself()
        self._beat_at = time.monotonic()
        self._is_suspended = bool(is_suspended(self.connection))  # an operator ran `rq suspend`
        self.heartbeat(_EXPIRES)
        self._bookkeeper.beat([job for job, _ in list(self._running.values())])
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()

    def _show_itself(self) -> None:
        """Register with RQ, again after a long pause or a flushed server."""
        if self.connection.hexists(self.key, "birth"):
            worker_registration.register(self)
        else:
            self.connection.delete(self.key)  # counters and heartbeats may have left fields there meanwhile
            self.register_birth()
            self.set_state(self.get_state())

    def _drain(self) -> None:
        self._tend()
        if self._running:
            self._has_room.wait(_LISTEN)

    def _tend(self) -> None:
        self._has_room.clear()
        self._beat()
        self._give_up_overdue()
        self._add_threads()


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
