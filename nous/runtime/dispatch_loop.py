"""The desk work of one worker in this process: dispatching, sweeping, and seeing to the quarantine."""

import subprocess
import threading
import time
from collections.abc import Callable, Sequence

import structlog

from nous.backoff import Setbacks
from nous.bus.base import Bus, Lane, Subscription
from nous.domain.errors import NousError
from nous.jobs.base import Jobs, Line, Order
from nous.runtime.sweeper import Sweeper


class Dispatcher:
    """Offers events to one worker's queues, and keeps the backlog in the stream.

    At most *ahead* jobs wait in a queue; it is filled up when a quarter of it is free, since many at once cost less. If
    this process dies between taking an entry and queueing its job, the entry's lease ends and the sweeper queues it.
    *lease* is in seconds.
    """

    def __init__(self, subscription: Subscription, *, bus: Bus, jobs: Jobs, ahead: int, lease: float) -> None:
        self._subscription = subscription
        self._bus = bus
        self._jobs = jobs
        self._ahead = ahead
        self._lease = lease

    def dispatch(self) -> int | None:
        """Queue what there is room for, live events first; returns how many jobs were queued, None without room."""
        queued = [self._dispatch(lane) for lane in Lane]
        return None if None in queued else sum(filter(None, queued))

    def wait(self, seconds: float) -> None:
        """Return when there may be something to dispatch, or after *seconds*."""
        self._bus.wait(self._subscription, lanes=tuple(Lane), seconds=seconds)

    def _dispatch(self, lane: Lane) -> int | None:
        room = self._ahead - self._jobs.backlog(self._subscription.group, Line.of(lane))
        if room < max(self._ahead // 4, 1):
            return None
        deliveries = self._bus.receive(self._subscription, lane=lane, limit=room, lease=self._lease)
        self._jobs.submit(
            *(
                Order(
                    ticket=delivery.ticket,
                    event_id=delivery.event.id,
                    session_id=delivery.event.session_id,
                    attempt=delivery.progress.attempt,
                    line=Line.of(lane),
                )
                for delivery in deliveries
            )
        )
        return len(deliveries)


_LISTEN = 1.0
_FULL = 0.02

log = structlog.get_logger(__name__)


class Clerk:
    """Runs until stopped. Any number may serve the same worker, in any number of processes. Times are in seconds.

    *open_quarantine* is called when jobs wait in quarantine; it starts a process for them, if none of ours runs.
    """

    def __init__(
        self,
        worker: str,
        *,
        dispatcher: Dispatcher,
        sweeper: Sweeper,
        jobs: Jobs,
        sweep_interval: float,
        open_quarantine: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._dispatcher = dispatcher
        self._sweeper = sweeper
        self._jobs = jobs
        self._sweep_interval = sweep_interval
        self._open_quarantine = open_quarantine
        self._stopping = threading.Event()
        self._sweep_at = 0.0
        self._sweeping = Setbacks()
        self._dispatching = Setbacks()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Dispatch and sweep until `stop`; what goes wrong is tried again, and told, ever more rarely."""
        with structlog.contextvars.bound_contextvars(worker=self._worker):
            while not self._stopping.is_set():
                if time.monotonic() >= self._sweep_at:
                    self._survive(self._sweep, self._sweeping)
                self._survive(self._dispatch, self._dispatching)

    def _survive(self, duty: Callable[[], None], setbacks: Setbacks) -> None:
        """Do one duty, with its own *setbacks*; when it fails, the other one is done all the same."""
        try:
            duty()
        except NousError as error:
            if setbacks.met(error):
                log.warning("will try again", error=str(error))
            self._stopping.wait(setbacks.wait)
        except Exception as error:  # the outermost loop: a clerk that dies leaves a worker that looks healthy
            if setbacks.met(error):
                log.exception("the clerk stumbled")
            self._stopping.wait(setbacks.wait)
        else:
            if failures := setbacks.over():
                log.info("the clerk goes on", failures=failures)

    def _dispatch(self) -> None:
        queued = self._dispatcher.dispatch()
        if queued is None:
            self._stopping.wait(_FULL)
        elif queued == 0:
            self._dispatcher.wait(min(_LISTEN, self._sweep_interval))

    def _sweep(self) -> None:
        self._sweep_at = time.monotonic() + self._sweep_interval
        self._sweeper.sweep()
        if self._jobs.backlog(self._worker, Line.QUARANTINE):
            self._open_quarantine(self._worker)


class Quarantines:
    """At most one process a worker. *command* is completed by the worker's name; it ends when its queue is empty."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def open(self, worker: str) -> None:
        """Start a process for *worker*, unless one of ours still runs."""
        running = self._processes.get(worker)
        if running is None or running.poll() is not None:
            log.warning("events that may have killed their process wait in quarantine", worker=worker)
            self._processes[worker] = subprocess.Popen([*self._command, worker], stdin=subprocess.DEVNULL)

    def ask_to_end(self) -> None:
        """Ask what still runs to end with its job; a job that hangs is ended at its deadline."""
        for process in self._processes.values():
            process.terminate()

    def stop(self) -> None:
        """Ask what still runs to end, and wait for it."""
        self.ask_to_end()
        for process in self._processes.values():
            process.wait()
