"""Events that came to rest long ago are let go, now and then."""

import threading
from collections.abc import Iterable

import structlog

from nous.bus.base import Lane
from nous.bus.trimming import Trimming
from nous.errors import NousError
from nous.events import Event
from nous.setbacks import Setbacks

log = structlog.get_logger(__name__)


class Housekeeper:
    """Runs until stopped, in any number of processes: what one has removed, the others find removed.

    Events of *kinds* stay for *keep* seconds, and as long as somebody needs them. *interval* is in seconds.
    """

    def __init__(self, trimming: Trimming, *, kinds: Iterable[type[Event]], keep: float, interval: float) -> None:
        self._trimming = trimming
        self._kinds = tuple(kinds)
        self._keep = keep
        self._interval = interval
        self._stopping = threading.Event()
        self._setbacks = Setbacks()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Tidy up now and then, until `stop`; what goes wrong is tried again, and told, ever more rarely."""
        while not self._stopping.is_set():
            wait = self._interval
            try:
                self.tidy()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("old events could not be removed; will try again", error=str(error))
                wait = self._setbacks.wait
            except Exception as error:  # the outermost loop: one that dies leaves a worker that looks healthy
                if self._setbacks.met(error):
                    log.exception("the housekeeper stumbled")
                wait = self._setbacks.wait
            else:
                self._setbacks.over()
            self._stopping.wait(wait)

    def tidy(self) -> int:
        """Remove what has stayed long enough; returns how many events."""
        return sum(self._trim(kind, lane) for kind in self._kinds for lane in Lane)

    def _trim(self, kind: type[Event], lane: Lane) -> int:
        removed = 0
        for count in self._trimming.trim(kind, lane=lane, keep=self._keep):
            removed += count
            if self._stopping.is_set():
                break
        if removed:
            log.info("old events are removed", kind=kind.type, lane=lane, count=removed)
        return removed
