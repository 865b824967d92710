"""The threads of a pool. They differ from an executor's in that one that hangs keeps nobody from going on, or home."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

import structlog

Task = Callable[[], object]

log = structlog.get_logger(__name__)


class Hands:
    """Threads that do what they are given: a free one if there is any, else a new one.

    How many there are is for the giver to say. They are daemons, so that a process can end although one of them hangs;
    wait for what matters before it does.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._free = threading.Semaphore(0)
        self._owed = threading.Semaphore(0)
        self._count = 0

    def give(self, task: Task) -> None:
        """Have *task* done soon. It has to catch what it raises."""
        self._tasks.put(task)
        if not self._free.acquire(blocking=False):
            self._owed.release()
            self.catch_up()

    def catch_up(self) -> None:
        """Make the threads that tasks wait for; to be asked now and then, as the system may have refused them."""
        while self._owed.acquire(blocking=False):
            try:
                threading.Thread(target=self._work, name=f"{self._name}-{self._count + 1}", daemon=True).start()
            except RuntimeError as error:
                self._owed.release()  # whoever has done his task first does this one, and is not free then
                log.warning("a task waits for a thread", error=str(error))
                return
            self._count += 1

    def dismiss(self) -> None:
        """Let the threads end, each when it is free; nothing is given afterwards."""
        for _ in range(self._count):
            self._tasks.put(None)

    def _work(self) -> None:
        while task := self._tasks.get():
            task()
            if not self._owed.acquire(blocking=False):
                self._free.release()
