"""Daemon thread pool in which a hung task blocks neither new tasks nor process exit."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

import structlog

Task = Callable[[], object]

log = structlog.get_logger(__name__)


class DaemonThreadPool:
    """Thread pool that runs each task on a free thread, or on a new one.

    The pool has no upper limit: the caller bounds the number of tasks. The threads are daemons, so the process can exit
    while one hangs. Before exiting, wait for the tasks that matter.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._free = threading.Semaphore(0)
        self._owed = threading.Semaphore(0)
        self._count = 0

    def submit(self, task: Task) -> None:
        """Run *task* soon. It has to catch its own exceptions."""
        self._tasks.put(task)
        if not self._free.acquire(blocking=False):
            self._owed.release()
            self.catch_up()

    def catch_up(self) -> None:
        """Start the threads that tasks wait for.

        Call it periodically, because the system may have refused to start a thread earlier.
        """
        while self._owed.acquire(blocking=False):
            try:
                threading.Thread(target=self._work, name=f"{self._name}-{self._count + 1}", daemon=True).start()
            except RuntimeError as error:
                self._owed.release()  # the first thread that finishes takes this task, and does not count as free then
                log.warning("thread_pool.thread_unavailable", error=str(error))
                return
            self._count += 1

    def shutdown(self) -> None:
        """Let each thread end when it is free. Submit nothing afterwards."""
        for _ in range(self._count):
            self._tasks.put(None)

    def _work(self) -> None:
        while task := self._tasks.get():
            task()
            if not self._owed.acquire(blocking=False):
                self._free.release()


T = TypeVar("T")


class Batcher(Generic[T]):
    """Batches the items of several threads, and calls *carry_out* with one batch at a time.

    The first thread processes its own item and those that others add until it is done, so the others need not wait. The
    busier the process, the larger the batches. *most* limits the items per batch. (Known as flat combining: Hendler,
    Incze, Shavit, Tzafrir 2010.)
    """

    def __init__(self, carry_out: Callable[[Sequence[T]], object], *, most: int = 64) -> None:
        self._carry_out = carry_out
        self._most = most
        self._waiting: deque[T] = deque()
        self._lock = threading.Lock()

    def __call__(self, item: T) -> None:
        """Add *item* and process what waits, unless another thread is doing so.

        When every thread that calls this has returned, each item was processed, or the attempt raised.

        Raises:
            Exception: the error of *carry_out*, once all waiting items had their turn.
            ExceptionGroup: the errors, if there are several.
        """
        self._waiting.append(item)
        failures: list[Exception] = []
        # Check again after each batch, once the lock is free: else an item added in between would never be processed.
        while self._waiting and self._lock.acquire(blocking=False):
            try:
                self._carry_out(self._next_batch())
            except Exception as error:  # noqa: BLE001 (raised below)
                failures.append(error)
            finally:
                self._lock.release()
        if failures:
            raise failures[0] if len(failures) == 1 else ExceptionGroup("several batches failed", failures)

    def _next_batch(self) -> list[T]:
        return [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
