"""Leases of what runs in this process."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import structlog

from nous.bus.base import Bus, Ticket
from nous.domain.errors import NousError

log = structlog.get_logger(__name__)


class LeaseKeeper:
    """Renews the leases of the deliveries that are being handled, each until its deadline. Times are in seconds.

    What outlives its deadline loses its lease and is submitted again. It may still commit after all: whoever commits
    first does, and the others are fenced.
    """

    def __init__(self, bus: Bus, *, lease: float, deadline: float) -> None:
        self._bus = bus
        self._lease = lease
        self._deadline = deadline
        self._held: dict[object, tuple[Ticket, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    @contextmanager
    def held(self, ticket: Ticket) -> Generator[None]:
        """Keep the lease of *ticket* from ending while the block runs."""
        hold = object()  # its own: an attempt that hung may end while the next one at the same delivery runs here
        with self._lock:
            self._start()
            self._held[hold] = ticket, time.monotonic() + self._deadline
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(hold, None)

    def stop(self) -> None:
        self._stopping.set()
        if self._thread:
            self._thread.join()

    def _start(self) -> None:
        # Made at first use, so that a process that forks before it has any work does not fork a thread.
        if self._thread is None:
            thread = threading.Thread(target=self._renew_forever, name="leases", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # a lease lasts for a while, and whoever comes next asks for a thread anew
                log.warning("leases wait for a thread", error=str(error))
            else:
                self._thread = thread

    def _renew_forever(self) -> None:
        while not self._stopping.wait(self._lease / 3):
            try:
                self._bus.renew(self._alive(), lease=self._lease)
            except NousError as error:
                log.warning("leases could not be renewed", error=str(error))
            except Exception:  # the outermost loop: one that dies leaves a worker whose work is taken for dead
                log.exception("leases could not be renewed")

    def _alive(self) -> list[Ticket]:
        now = time.monotonic()
        with self._lock:
            return [ticket for ticket, deadline in self._held.values() if now < deadline]
