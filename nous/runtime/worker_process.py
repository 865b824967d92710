"""Worker process: start its loops together, supervise them, and stop them gracefully.

For each worker there is a dispatch loop and a pool, each on its own thread.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)

_GLANCE = 0.1
"""Seconds between two polls of the loops and of a stop request; `stop` has the reason against an event."""


class Loop(Protocol):
    """Background loop that runs until it is stopped."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


class WorkerProcess:
    """Runs *loops*, each on a thread, and stops them together.

    Stopping drains: the loops take nothing new, and work in flight finishes. *finish* is called after all loops have
    ended, to stop what they need while they drain.
    """

    def __init__(self, loops: Sequence[Loop], *, finish: Callable[[], object] = lambda: None) -> None:
        self._loops = loops
        self._finish = finish
        # Daemons, so the process ends if one of them cannot be started.
        self._threads = [
            threading.Thread(target=_run, args=(loop,), name=type(loop).__name__, daemon=True) for loop in loops
        ]
        self._was_asked = False

    def start(self) -> None:
        """Start every loop.

        Raises:
            RuntimeError: the system cannot start another thread.
        """
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask every loop to stop. Safe in a signal handler, and idempotent."""
        # No `threading.Event`: a signal that interrupts its `wait` while that holds the event's lock would deadlock.
        self._was_asked = True

    def is_well(self) -> bool:
        """Return whether every loop still runs."""
        return all(thread.is_alive() for thread in self._threads)

    def wait(self) -> bool:
        """Block until a stop is requested or a loop ends by itself, then drain.

        Returns whether a stop was requested. If not, something is wrong, and the supervisor of the process should
        restart it.
        """
        while not self._was_asked and self.is_well():
            time.sleep(_GLANCE)
        was_asked = self._was_asked
        if not was_asked:
            log.error("worker_process.loop_ended", loops=[t.name for t in self._threads if not t.is_alive()])
        for loop in self._loops:
            loop.stop()
        for thread in self._threads:
            thread.join()
        self._finish()
        return was_asked


def _run(loop: Loop) -> None:
    try:
        loop.run()
    except Exception:  # the outermost call of a thread: `wait` logs that it has ended, this logs why
        log.exception("worker_process.loop_failed", loop=type(loop).__name__)
