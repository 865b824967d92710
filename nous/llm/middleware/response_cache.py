"""Response cache around a model client; responses are saved before they are used."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

import structlog

from nous.llm.base import Model, Question, Reply
from nous.llm.state import ResponseStore, UsageCounters

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Turn:
    """The lock on one question, and the number of threads that wait for it or hold it."""

    lock: Lock = field(default_factory=Lock)
    count: int = 0


class ResponseCache:
    """Model that pays once for a response, in spite of retries, crashes or commit conflicts.

    Threads that ask the same question at once send it once. An unusable answer is cached too: asking again would cost
    as much, and say as little. Only an answer that may quote content that was erased meanwhile is not kept.
    """

    def __init__(self, model: Model, responses: ResponseStore, counters: UsageCounters) -> None:
        self._model = model
        self._responses = responses
        self._counters = counters
        self._lock = Lock()
        self._turns: dict[tuple[str, str], _Turn] = {}

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        with self._alone(question):
            found = self._responses.find(question, self.id)
            if found:
                self._counters.count(self.id, remembered=1)
                return found
            reply = self._model.ask(question)
            if question.earlier:
                self._counters.count(self.id, asked_again=1)
                log.info("model.repair_requested", model=self.id, complaint=question.earlier[-1].complaint)
            return self._responses.save(question, self.id, reply)

    @contextmanager
    def _alone(self, question: Question) -> Generator[None]:
        """Hold the lock on *question*, so that no other thread of this process asks it meanwhile."""
        key = str(question.matter.subject), question.digest
        with self._lock:
            turn = self._turns.setdefault(key, _Turn())
            turn.count += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.count -= 1
                if not turn.count:
                    self._turns.pop(key, None)
