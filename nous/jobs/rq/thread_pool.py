"""The threads of a pool. They differ from an executor's in that one that hangs keeps nobody from going on, or home."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

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


T = TypeVar("T")


class Gather(Generic[T]):
    """Calls *carry_out* with what threads hand in, a handful at a time and never twice at once.

    Whoever finds nobody at it carries out his own and what others hand in until he is done; they need not wait for it.
    The busier the process, the larger the handfuls. (Known as flat combining: Hendler, Incze, Shavit, Tzafrir 2010.)
    """

    def __init__(self, carry_out: Callable[[Sequence[T]], object], *, most: int = 64) -> None:
        self._carry_out = carry_out
        self._most = most
        self._waiting: deque[T] = deque()
        self._is_at_it = threading.Lock()

    def __call__(self, item: T) -> None:
        """Hand in *item*. When every thread that calls this has come back, each was carried out, or the attempt raised.

        Raises what *carry_out* raised, when all that waits has had its turn; if it raised more than once, as a group.
        """
        self._waiting.append(item)
        failures: list[Exception] = []
        # Looked at again after each handful is done and the lock is free: what came in between would be left lying.
        while self._waiting and self._is_at_it.acquire(blocking=False):
            try:
                self._carry_out(self._handful())
            except Exception as error:  # noqa: BLE001 (raised below)
                failures.append(error)
            finally:
                self._is_at_it.release()
        if failures:
            raise failures[0] if len(failures) == 1 else ExceptionGroup("several handfuls failed", failures)

    def _handful(self) -> list[T]:
        return [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
