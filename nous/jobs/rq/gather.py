"""Many threads hand in; one at a time carries out, for all who came meanwhile."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

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
