"""Lease renewal for the deliveries that this process handles."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from nous.backoff import RetryBackoff
from nous.bus.base import Bus, DeliveryRef


class LeaseKeeper:
    """Renews the lease of each delivery being handled, until its deadline.

    Times are in seconds. A delivery that outlives its deadline loses its lease and is resubmitted. Its handler may
    still commit: the first commit wins, and later ones are fenced off.
    """

    def __init__(self, bus: Bus, *, lease: float, deadline: float) -> None:
        self._bus = bus
        self._lease = lease
        self._deadline = deadline
        self._held: dict[object, tuple[DeliveryRef, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    @contextmanager
    def held(self, ref: DeliveryRef) -> Generator[None]:
        """Keep the lease of *ref* from expiring while the block runs."""
        hold = object()  # unique: a hung attempt may end while the next one at the same delivery runs here
        with self._lock:
            self._start()
            self._held[hold] = ref, time.monotonic() + self._deadline
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
        # Started at first use, so that a process that forks before it has any work does not fork a thread.
        if self._thread is None:
            thread = threading.Thread(target=self._renew_forever, name="leases", daemon=True)
            thread.start()
            self._thread = thread

    def _renew_forever(self) -> None:
        renewing = RetryBackoff("lease_renewal")
        while not self._stopping.wait(self._lease / 3):
            with renewing.guard():
                self._bus.renew(self._alive(), lease=self._lease)

    def _alive(self) -> list[DeliveryRef]:
        now = time.monotonic()
        with self._lock:
            return [ref for ref, deadline in self._held.values() if now < deadline]
