"""An RQ worker with many jobs in flight in one process: a thread each, for handlers that mostly wait.

RQ's fork-per-job worker needs a process for every job in flight. This one keeps RQ's books in the same way, so its
dashboards see queues, workers and running jobs as they know them, but runs the jobs on threads.
"""

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import redis
import structlog
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.utils import now
from rq.worker import BaseWorker, WorkerStatus

from nous.errors import NousError
from nous.jobs.base import Runner
from nous.jobs.rq.books import Begun, Books, Returned
from nous.jobs.rq.gather import Gather
from nous.jobs.rq.hands import Hands
from nous.jobs.rq.job import AllowListedJob, words_in

_LISTEN = 1
"""Seconds to block on an empty queue, and so the longest time until a stop, or work in the second queue, is seen."""
_HANDFUL = 16
"""Jobs that are taken at once: enough to share a round trip, and little to be submitted again if this dies."""
_BEAT = 15.0
_RECONNECT = 1.0
_OUTAGES = (redis.ConnectionError, redis.TimeoutError)

log = structlog.get_logger(__name__)


class NoPenalty(BaseDeathPenalty):
    """No alarm: SIGALRM reaches the main thread only. The pool gives up on what hangs instead."""

    def setup_death_penalty(self) -> None: ...

    def cancel_death_penalty(self) -> None: ...


class PoolWorker(BaseWorker):
    """Runs the jobs of its queues, those of the first before those of the second, up to *concurrency* at a time.

    A thread cannot be ended from outside. A job that is not done after *give_up_after* seconds is filed as failed, its
    thread is left to itself and another takes its place: a handler that hangs does not make the pool smaller.
    """

    death_penalty_class = NoPenalty

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
        self._books = Books(self, connection)
        self._finish = Gather(self._close_books)
        self._runner = runner
        self._concurrency = concurrency
        self._give_up_after = timedelta(seconds=give_up_after)
        self._hands = Hands(name)
        self._running: dict[str, Begun] = {}
        self._has_room = threading.Event()
        self._stopping = threading.Event()
        self._beat_at = 0.0

    def stop(self) -> None:
        """Take no more jobs, and let `run` return when those in flight have ended."""
        self._stop_requested = True
        self._stopping.set()
        self._has_room.set()

    def run(self) -> None:
        """Take and run jobs until `stop`; then wait for those in flight."""
        self.bootstrap(logging_level=None)
        try:
            while not self._stopping.is_set():
                self._survive(self._step)
            while self._running:
                self._survive(self._drain)
        finally:
            self._hands.dismiss()
            self._survive(self.teardown)

    def _survive(self, step: Callable[[], None]) -> None:
        """Take a step; whatever goes wrong with the server, or with what somebody put into a queue, is not the end."""
        try:
            step()
        except _OUTAGES as error:
            log.warning("Redis did not answer; trying again", rq_worker=self.name, error=str(error))
            self._stopping.wait(_RECONNECT)
        except Exception:  # the outermost loop: a pool that dies leaves a worker that looks healthy
            log.exception("the pool stumbled over what it took from a queue", rq_worker=self.name)
            self._stopping.wait(_RECONNECT)

    def _step(self) -> None:
        """Start some jobs, or find after a moment that there are none, or no room for them."""
        self._beat()
        self._give_up_overdue()
        self._has_room.clear()
        room = self._concurrency - len(self._running)
        if room <= 0:
            self._has_room.wait(_LISTEN)
        elif begun := self._begin(min(room, _HANDFUL)):
            if self.get_state() != WorkerStatus.BUSY:
                self.set_state(WorkerStatus.BUSY)
            for job in begun:
                self._running[job.execution] = job
                self._hands.give(partial(self._perform, job))
        else:
            self._idle()

    def _begin(self, most: int) -> list[Begun]:
        """Up to *most* jobs of the first queue that has any."""
        return next(filter(None, (self._books.begin(queue, most=most) for queue in self.queues)), [])

    def _idle(self) -> None:
        """Wait until the first queue may have something."""
        if not self._running and self.get_state() != WorkerStatus.IDLE:
            self.set_state(WorkerStatus.IDLE)
        key = self.queues[0].key
        # From the head of the queue to its head: this waits, and moves nothing.
        self.connection.blmove(key, key, _LISTEN, "LEFT", "LEFT")

    def _perform(self, job: Begun) -> None:
        try:
            self._run(job)
        except Exception:  # the outermost call of a thread
            log.exception("RQ's books could not be written", jobs=[job.id])
        finally:
            self._running.pop(job.execution, None)
            self._has_room.set()

    def _run(self, job: Begun) -> None:
        """Do what the job asks for, and file what came of it unless it was given up meanwhile."""
        try:
            said = self._runner(*words_in(job.data))
        except BaseException as error:  # noqa: BLE001 (a handler may even try to exit)
            if job.execution in self._running:
                self._fail(job, error)
        else:
            if job.execution in self._running:
                self._finish(Returned(job, now(), said))

    def _give_up_overdue(self) -> None:
        """Make room where a handler hangs. Its event is another attempt's by now."""
        for job in list(self._running.values()):  # the oldest first
            if now() - job.began < self._give_up_after:
                break
            if self._running.pop(job.execution, None):
                log.error("a handler hangs; its thread is given up", rq_worker=self.name, job_id=job.id)
                self._fail(job, TimeoutError(f"not done after {self._give_up_after}"))

    def _close_books(self, returned: Sequence[Returned]) -> None:
        try:
            self._books.finish(returned)
        except _OUTAGES as error:
            # The attempts are over and their deliveries are safe in the stream; only RQ's own books are behind.
            log.warning("RQ's books could not be written", jobs=[each.job.id for each in returned], error=str(error))

    def _fail(self, begun: Begun, error: BaseException) -> None:
        """File the job as failed, with its traceback: rare, and so left to RQ."""
        try:
            job: Any = AllowListedJob.fetch(begun.id, self.connection, JSONSerializer)
            job.started_at, job.ended_at = begun.began, now()
            execution = Execution(begun.execution, begun.id, self.connection, self.name)
            execution.created_at = begun.began
            text = "".join(traceback.format_exception(error))
            if not isinstance(error, NousError):  # what we raise ourselves was logged with all that follows from it
                self.handle_exception(job, type(error), error, error.__traceback__)
            self.handle_job_failure(job, begun.queue, exc_string=text, execution=execution)
        except (*_OUTAGES, NoSuchJobError) as trouble:
            log.warning("RQ's books could not be written", jobs=[begun.id], error=str(trouble))

    def _beat(self) -> None:
        """Tell RQ now and then that this worker and its jobs live, and let it keep house."""
        if time.monotonic() - self._beat_at < _BEAT:
            return
        self._beat_at = time.monotonic()
        self.check_for_suspension(burst=False)
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()
        self.heartbeat()
        self._books.beat(list(self._running.values()))

    def _drain(self) -> None:
        self._has_room.clear()
        if self._running:
            self._has_room.wait(_LISTEN)
        self._beat()
        self._give_up_overdue()
