"""RQ worker that runs many jobs in one process, a thread each.

It suits handlers that mostly wait for I/O. RQ's fork-per-job worker needs a process for every job in flight. This one
keeps RQ's bookkeeping in the same way, so its dashboards see queues, workers and running jobs as usual.
"""

import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from queue import SimpleQueue
from typing import Any

import redis
import structlog
from rq import worker_registration
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.suspension import is_suspended
from rq.worker import BaseWorker, WorkerStatus

from nous.backoff import RetryBackoff
from nous.jobs.base import Runner
from nous.jobs.rq.bookkeeping import JobBookkeeper, StartedJob
from nous.jobs.rq.job import AllowListedJob, decode_call
from nous.redis_support.errors import translated

_LISTEN = 1
"""Seconds to block on an empty queue. Also the longest time until a stop, or work in the second queue, is noticed."""
_BATCH = 16  # jobs taken at once: enough to share a round trip, and few to resubmit if this process dies
_BEAT = 15.0  # seconds between two heartbeats. Also the longest time until `rq suspend` or `rq resume` is noticed
_EXPIRES = 60  # seconds without a heartbeat after which this worker counts as dead
_GLANCE = 0.02
_AFTERGLOW = 2.0
"""Seconds after work in another queue than the first, in which the wait is short: Redis blocks on one queue only."""

log = structlog.get_logger(__name__)


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
