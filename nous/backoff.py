"""Retry a call until a deadline; run background tasks, and pace failing ones: backoff."""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import structlog

from nous.domain.errors import NousError, Retryable

_FIRST = 1.0
_LONGEST = 8.0  # seconds between two tries at most. Also the longest time until a recovered server is noticed
_DOUBLINGS = 10  # more than the limit allows. Without this cap the power would overflow a float
_FIRST_OF_CALL = 0.05
_LONGEST_OF_CALL = 1.0
"""Seconds between two tries of a call. A server does not announce that it is back, so poll it."""

_Answer = TypeVar("_Answer")

log = structlog.get_logger(__name__)


def retry_until_deadline(call: Callable[[], _Answer], *, seconds: float) -> _Answer:
    """Call *call*, and retry it on transient errors for *seconds*. It has to be idempotent.

    So finished work is neither repeated nor blamed because the server was down when the result was to be written. The
    wait between two tries doubles each time, up to a second. Raises the last failure, a `Retryable`.
    """
    until, pause = time.monotonic() + seconds, _FIRST_OF_CALL
    while True:
        try:
            return call()
        except Retryable:
            if time.monotonic() + pause > until:
                raise
            time.sleep(pause)  # nothing tells that a server is back
            pause = min(2 * pause, _LONGEST_OF_CALL)


class RetryBackoff:
    """Consecutive failures of the background task *name*. Not thread-safe."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._count = 0
        self._last = ""
        self._repeated = 0

    @contextmanager
    def guard(self) -> Generator[None]:
        """Log an error of the block, so that its task lives on, and pause for `wait` afterwards."""
        try:
            yield
        except NousError as error:
            if self.record_failure(error):
                log.warning("task.retry_scheduled", task=self._name, error=str(error))
        except Exception as error:  # the outermost loop of the task
            if self.record_failure(error):
                log.exception("task.error", task=self._name)
        else:
            if failures := self.reset():
                log.info("task.recovered", task=self._name, failures=failures)

    def record_failure(self, error: Exception) -> bool:
        """Count a failure; return whether it should be logged.

        Of failures of one kind in a row, the first, second, fourth, eighth ... are logged. Errors are of one kind if
        they have the same type and the same text up to the colon: the text behind it differs with the command.
        """
        kind = f"{type(error).__name__}: {str(error).partition(':')[0]}"
        self._repeated = self._repeated + 1 if kind == self._last else 1
        self._last = kind
        self._count += 1
        return self._repeated.bit_count() == 1

    @property
    def wait(self) -> float:
        """Seconds until the next try, with jitter: 0 after a success, doubling up to a limit."""
        if self._count == 0:
            return 0.0
        longest = min(_LONGEST, _FIRST * 2 ** min(self._count - 1, _DOUBLINGS))
        return longest / 2 * (1 + random.random())  # noqa: S311 (spreading load is no secret)

    def reset(self) -> int:
        """Record a success; return the number of failures before it."""
        count, self._count, self._repeated, self._last = self._count, 0, 0, ""
        return count


@dataclass(eq=False, kw_only=True)
class PeriodicTask(ABC):
    """Runs an idempotent task until stopped, in any number of processes. Times are in seconds.

    A task that fails is retried with backoff, or after *interval* if that is shorter, and its log lines are sampled.
    """

    name: ClassVar[str]

    interval: float
    _stopping: threading.Event = field(init=False, default_factory=threading.Event)
    _retry_backoff: RetryBackoff = field(init=False)

    def __post_init__(self) -> None:
        self._retry_backoff = RetryBackoff(self.name)

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            wait = 0.0
            with self._retry_backoff.guard():
                wait = self.run_once()
            self._stopping.wait(wait or min(self.interval, self._retry_backoff.wait))

    @abstractmethod
    def run_once(self) -> float:
        """Do what is due; return the seconds to wait until the next run."""
