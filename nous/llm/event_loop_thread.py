"""Asyncio event loop in a daemon thread, shared by the blocking calls of many threads."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

GRACE = 2.0
"""Seconds that a caller waits beyond the deadline, for a busy loop to report the timeout itself."""


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    thread: Thread


class LoopThread:
    """One event loop in a daemon thread. Thread-safe.

    The thread starts at the first `run` in a process. A fork copies the object, but neither the thread nor its open
    connections, so a child starts its own and does not touch the parent's.
    """

    def __init__(self) -> None:
        self._by_process: dict[int, _Running] = {}

    def run(self, work: Work[T], *, deadline: float) -> T:
        """Run *work* in the loop and return its result; cancel it after *deadline* seconds.

        Never call it from work that runs in the loop: it would wait for itself.

        Raises:
            TimeoutError: the work did not finish in time.
            concurrent.futures.CancelledError: the loop was closed meanwhile.
        """
        future = asyncio.run_coroutine_threadsafe(_within(work, deadline), self._loop())
        try:
            return future.result(deadline + GRACE)
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel running work and end the thread. The next `run` starts another."""
        if running := self._by_process.pop(os.getpid(), None):
            running.loop.call_soon_threadsafe(running.loop.stop)
            running.thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of this process.

        `setdefault` takes no lock: a fork could inherit a lock that is held for ever.
        """
        own = os.getpid()
        running = self._by_process.get(own)
        if running is None:
            loop = asyncio.new_event_loop()
            started = _Running(loop, Thread(target=_serve, args=(loop,), name="nous-llm-loop", daemon=True))
            running = self._by_process.setdefault(own, started)
            if running is started:
                started.thread.start()
            else:
                loop.close()
        return running.loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run *loop* until it is stopped, and cancel the work that it has left."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


async def _within(work: Work[T], deadline: float) -> T:
    async with asyncio.timeout(deadline):
        return await work()
