"""An event loop in a thread of its own, where the calls of many threads are under way at once."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from nous.llm.provider import Endpoint

if TYPE_CHECKING:
    import httpx2


T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

GRACE = 2.0
"""Seconds that a caller waits on top of the deadline, for a loop that is busy to say that it is over."""


class LoopThread:
    """One event loop in a daemon thread. Threads may share it.

    It is made at the first `run` in a process: a fork copies the object, but neither the thread nor what it holds open,
    so a child makes its own and leaves the parent's alone.
    """

    def __init__(self) -> None:
        self._homes: dict[int, _Home] = {}

    def run(self, work: Work[T], *, deadline: float) -> T:
        """What *work* comes to. It starts inside the loop, and is cut off there after *deadline* seconds.

        Not to be called from work: that would wait for itself.

        Raises:
            TimeoutError: it was not through in time.
            concurrent.futures.CancelledError: the loop was closed meanwhile.
        """
        future = asyncio.run_coroutine_threadsafe(_within(work, deadline), self._home().loop())
        try:
            return future.result(deadline + GRACE)
        finally:
            future.cancel()

    def close(self) -> None:
        """Cut off what is under way and end the thread. `run` would make another."""
        self._home().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _home(self) -> "_Home":
        """The loop of this process. `setdefault` takes no lock, which a fork might find locked for ever."""
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


class Line(NamedTuple):
    """A client, the loop it lives in, and as many slots as calls may be in flight."""

    loop: asyncio.AbstractEventLoop
    client: "httpx2.AsyncClient"
    slots: asyncio.Semaphore


class Connections:
    """The line of the running loop. One of another loop belongs to the parent of this process, so it is left be."""

    def __init__(self, endpoint: Endpoint, *, largest: int | None = None) -> None:
        """Open nothing yet. *largest* is the bytes of an answer that are read, if not `wire.LARGEST_BODY`."""
        self._endpoint = endpoint
        self._largest = largest
        self._line: Line | None = None

    def line(self) -> Line:
        """Open it, unless it is open."""
        from nous.llm.http import LARGEST_BODY, http_client  # noqa: PLC0415 (see `loaded`)

        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            client = http_client(self._endpoint, largest=self._largest or LARGEST_BODY)
            self._line = Line(loop, client, asyncio.Semaphore(self._endpoint.concurrency))
        return self._line

    async def close(self) -> None:
        line, self._line = self._line, None
        if line and line.loop is asyncio.get_running_loop():
            await line.client.aclose()
