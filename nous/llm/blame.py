"""Whether it is the provider that fails, or a question that makes it fail."""

from collections import OrderedDict
from threading import Lock

_MOST = 1000
"""Questions that are remembered."""

_OFTEN = 2


class Blame:
    """Remembers, in one process, which questions failed while others were answered. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answered = 0
        self._failed: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def passed(self, question: str) -> None:
        """Note that the question of that digest was answered."""
        with self._lock:
            self._answered += 1
            self._failed.pop(question, None)

    def failed(self, question: str) -> bool:
        """Note that it failed; whether it is to blame: others were answered between its failures, and again."""
        with self._lock:
            times, answered = self._failed.pop(question, (0, self._answered))
            times += self._answered > answered
            self._failed[question] = times, self._answered
            while len(self._failed) > _MOST:
                self._failed.popitem(last=False)
            return times >= _OFTEN
