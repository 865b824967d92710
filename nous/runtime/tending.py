"""Sessions that are idle are ended, and what was left lying is finished, now and then."""

import threading
import time
from collections.abc import Iterable

import structlog

from nous.errors import NousError
from nous.runtime.finishing import Deed, Finisher
from nous.setbacks import Setbacks

log = structlog.get_logger(__name__)


class Tender:
    """Runs until stopped, in any number of processes. *interval* and *recover_every* are in seconds."""

    def __init__(self, finisher: Finisher, *, interval: float, recover_every: float) -> None:
        self._finisher = finisher
        self._interval = interval
        self._recover_every = recover_every
        self._recover_at = 0.0
        self._setbacks = Setbacks()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Look after sessions until `stop`; what goes wrong is tried again, and told, ever more rarely."""
        while not self._stopping.is_set():
            try:
                self.tend()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("sessions could not be looked after; will try again", error=str(error))
            except Exception as error:  # the outermost loop: a tender that dies leaves a worker that looks healthy
                if self._setbacks.met(error):
                    log.exception("looking after sessions stumbled")
            else:
                if failures := self._setbacks.over():
                    log.info("sessions are looked after again", failures=failures)
            self._stopping.wait(self._interval)

    def tend(self) -> None:
        """End what is idle, and when it is time, recover what was left lying."""
        self._say(self._finisher.close())
        if time.monotonic() >= self._recover_at:
            self._recover_at = time.monotonic() + self._recover_every
            self._say(self._finisher.recover(patiently=True))

    def _say(self, deeds: Iterable[Deed]) -> None:
        for deed in deeds:
            log.info("looked after a session", session_id=deed.session_id, scope=str(deed.scope), what=deed.what)
            if self._stopping.is_set():
                return
