"""Asyncio event loop in a daemon thread, shared by the blocking calls of many threads."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

GRACE = 2.0
"""Seconds that a caller waits beyond the deadline, for a busy loop to report the timeout itself."""


class LoopThread:
    """One event loop in a daemon thread. Thread-safe.

    The thread starts at the first `run` in a process. A fork copies the object, but neither the thread nor its open
    connections, so a child starts its own and does not touch the parent's.
    """

    def __init__(self) -> None:
        self._homes: dict[int, _Home] = {}

    def run(self, work: Work[T], *, deadline: float) -> T:
        """Run *work* in the loop and return its result; cancel it after *deadline* seconds.

        Never call it from work that runs in the loop: it would wait for itself.

        Raises:
            TimeoutError: the work did not finish in time.
            concurrent.futures.CancelledError: the loop was closed meanwhile.
        """
        future = asyncio.run_coroutine_threadsafe(_within(work, deadline), self._home().loop())
        try:
            return future.result(deadline + GRACE)
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel running work and end the thread. The next `run` starts another."""
        self._home().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _home(self) -> "_Home":
        """Return the loop of this process.

        `setdefault` takes no lock: a fork could inherit a lock that is held for ever.
        """
        return self._homes.setdefault(os.getpid(), _Home())


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    thread: Thread


class _Home:
    """The loop of one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: _Running | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            self._running = self._running or _started()
            return self._running.loop

    def close(self) -> None:
        with self._lock:
            if self._running:
                self._running.loop.call_soon_threadsafe(self._running.stop.set)
                self._running.thread.join()
            self._running = None


def _started() -> _Running:
    ready = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()
    thread = Thread(target=lambda: asyncio.run(_until_stopped(ready)), name="nous-llm-loop", daemon=True)
    thread.start()
    return _Running(*ready.result(), thread)


async def _until_stopped(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    stop = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), stop))
    await stop.wait()


async def _within(work: Work[T], deadline: float) -> T:
    async with asyncio.timeout(deadline):
        return await work()
