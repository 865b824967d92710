"""Processes for events that may kill theirs: started when one is needed, gone when there is nothing left to do."""

import subprocess
from collections.abc import Sequence

import structlog

log = structlog.get_logger(__name__)


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
