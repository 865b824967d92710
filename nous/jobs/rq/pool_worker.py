"""An RQ worker with many jobs in flight in one process: a thread each, for handlers that mostly wait.

RQ's fork-per-job worker needs a process for every job in flight. This one keeps RQ's books in the same way, so its
dashboards see queues, workers and running jobs as they know them, but runs the jobs on threads.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import redis
import structlog
from rq import worker_registration
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.suspension import is_suspended
from rq.timeouts import BaseDeathPenalty
from rq.worker import BaseWorker, WorkerStatus
from typing_extensions import override

from nous.backoff import Setbacks
from nous.domain.errors import Misconfigured, Retryable
from nous.jobs.base import Runner
from nous.jobs.rq.bookkeeping import Begun, Books, Filing
from nous.jobs.rq.job import AllowListedJob, words_in
from nous.jobs.rq.thread_pool import Hands
from nous.jobs.rq.worker_stats import PLACE, here
from nous.redis_support.errors import translated

_LISTEN = 1
"""Seconds to block on an empty queue, and so the longest time until a stop, or work in the second queue, is seen."""
_HANDFUL = 16
"""Jobs that are taken at once: enough to share a round trip, and little to be submitted again if this dies."""
_BEAT = 15.0
_DEAF = 5.0
"""Seconds until what RQ calls out to its workers is listened to again, when the server was in trouble."""
_GLANCE = 0.02
_AFTERGLOW = 2.0
"""For so long after a queue other than the first had work, the wait is a glance: Redis waits for one queue alone."""

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
        self._filing = Filing(self, self._books, connection)
        self._runner = runner
        self._concurrency = concurrency
        self._give_up_after = give_up_after
        self._hands = Hands(name)
        self._running: dict[str, tuple[Begun, float]] = {}
        self._has_room = threading.Event()
        self._stopping = threading.Event()
        self._beat_at = 0.0
        self._suspension_seen_at = 0.0
        self._is_suspended = False
        self._others_at = -_AFTERGLOW
        self._setbacks = Setbacks()
        self._has_begun = False

    @override
    def serialize(self) -> dict[str, Any]:
        """What RQ writes down of a worker, and the place in which its pid names it."""
        return {**super().serialize(), PLACE: here()}

    @override
    def _pubsub_exception_handler(self, exc: Exception, pubsub: Any, pubsub_thread: Any) -> None:
        """Listen again in a moment where the server is in trouble, of which the pool tells; RQ would tell it as well.

        RQ's own handler ends the listening for good when the server refuses to answer, as one that cannot write does.
        """
        if not isinstance(exc, redis.RedisError):
            super()._pubsub_exception_handler(exc, pubsub, pubsub_thread)
        self._stopping.wait(_DEAF)

    def stop(self) -> None:
        """Take no more jobs, and let `run` return when those in flight have ended."""
        self._stop_requested = True
        self._stopping.set()
        self._has_room.set()

    def run(self) -> None:
        """Take and run jobs until `stop`, from when the server lets RQ know of it; then wait for those in flight."""
        try:
            while not (self._has_begun or self._stopping.is_set()):
                self._survive(self._begin)
            while not self._stopping.is_set():
                self._survive(self._step)
            while self._running:
                self._survive(self._drain)
            self._survive(self._filing.again)
        finally:
            self._hands.dismiss()
            self._survive(self.teardown if self._has_begun else self.unsubscribe)

    def _survive(self, step: Callable[[], None]) -> None:
        """Do *step*; what goes wrong with the server, or with what somebody wrote into it, is not the end.

        What fails time and again is tried, and told, ever more rarely; what the server says plainly is told in a line.
        """
        try:
            with translated():
                step()
        except (Retryable, Misconfigured) as error:
            if self._setbacks.met(error):
                log.warning("the pool waits for the server", rq_worker=self.name, error=str(error))
            self._stopping.wait(self._setbacks.wait)
        except Exception as error:  # the outermost loop: a pool that dies leaves a worker that looks healthy
            if self._setbacks.met(error):
                log.exception("the pool stumbled, and goes on", rq_worker=self.name)
            self._stopping.wait(self._setbacks.wait)
        else:
            if failures := self._setbacks.over():
                log.info("the pool goes on", rq_worker=self.name, failures=failures)

    def _begin(self) -> None:
        """Make this worker known to RQ."""
        self.unsubscribe()  # with what else a try has left that got only half the way: nobody shares this name
        self.connection.delete(self.key)
        self.bootstrap(logging_level=None)
        self._has_begun = True

    def _step(self) -> None:
        """Start some jobs, or find after a moment that there are none, or no room for them."""
        self._beat()
        self._give_up_overdue()
        self._hands.catch_up()
        self._has_room.clear()
        room = self._concurrency - len(self._running)
        if room <= 0:
            self._has_room.wait(_LISTEN)
        elif self._look_for_suspension():
            self._say(WorkerStatus.SUSPENDED)
            self._stopping.wait(_LISTEN)
        elif not self._start(min(room, _HANDFUL)):
            self._idle()

    def _start(self, most: int) -> bool:
        """Start up to *most* jobs of the first queue that has any; whether there were some."""
        for queue in self.queues:
            if begun := self._books.begin(queue, most=most):
                self._running |= {job.execution: (job, time.monotonic()) for job in begun}
                for job in begun:
                    self._hands.give(partial(self._perform, job))
                if queue is not self.queues[0]:
                    self._others_at = time.monotonic()
                self._say(WorkerStatus.BUSY)
                return True
        return False

    def _idle(self) -> None:
        """Wait until the first queue has something, or another one may."""
        if not self._running:
            self._say(WorkerStatus.IDLE)
        connection: Any = self.connection  # typed for whole seconds, though it takes fractions
        key = self.queues[0].key
        seconds = _GLANCE if time.monotonic() - self._others_at < _AFTERGLOW else _LISTEN
        # From the head of the queue to its head: this waits, and moves nothing.
        connection.blmove(key, key, seconds, "LEFT", "LEFT")

    def _say(self, state: WorkerStatus) -> None:
        if self.get_state() != state:
            self.set_state(state)

    def _look_for_suspension(self) -> bool:
        """Whether somebody said `rq suspend`; looked up once a second, since every pool asks."""
        if time.monotonic() - self._suspension_seen_at >= _LISTEN:
            self._suspension_seen_at = time.monotonic()
            self._is_suspended = bool(is_suspended(self.connection))
        return self._is_suspended

    def _perform(self, job: Begun) -> None:
        try:
            self._run(job)
        except Exception:  # the outermost call of a thread: nobody else would hear of it
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
                self._filing.failed(job, error)
        else:
            if job.execution in self._running:
                self._filing.returned(job, said)

    def _give_up_overdue(self) -> None:
        """Make room where a handler hangs. Its event is another attempt's by now."""
        for job, since in list(self._running.values()):  # the oldest first
            if time.monotonic() - since < self._give_up_after:
                break
            if self._running.pop(job.execution, None):
                log.error("a handler hangs; its thread is given up", rq_worker=self.name, job_id=job.id)
                self._filing.failed(job, TimeoutError(f"not done after {self._give_up_after:g} s"))

    def _beat(self) -> None:
        """Tell RQ now and then that this worker and its jobs live, and let it keep house."""
        if time.monotonic() - self._beat_at < _BEAT:
            return
        self._beat_at = time.monotonic()
        self._show_itself()
        self.heartbeat()
        self._books.beat([job for job, _ in list(self._running.values())])
        self._filing.again()
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()

    def _show_itself(self) -> None:
        """See that RQ knows this worker: its keys expire in a long pause, and somebody may have emptied the server."""
        if self.connection.hexists(self.key, "birth"):
            worker_registration.register(self)
        else:
            self.connection.delete(self.key)  # what counting and beating have left there meanwhile
            self.register_birth()
            self.set_state(self.get_state())

    def _drain(self) -> None:
        self._has_room.clear()
        if self._running:
            self._has_room.wait(_LISTEN)
        self._beat()
        self._give_up_overdue()
        self._hands.catch_up()
