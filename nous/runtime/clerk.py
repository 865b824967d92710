"""The desk work of one worker in this process: dispatching, sweeping, and seeing to the quarantine."""

import threading
import time
from collections.abc import Callable

import structlog

from nous.errors import NousError
from nous.jobs.base import Jobs, Line
from nous.runtime.dispatch import Dispatcher
from nous.runtime.sweep import Sweeper
from nous.setbacks import Setbacks

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
