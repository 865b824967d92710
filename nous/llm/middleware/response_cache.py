"""Response cache around a model client; responses are saved before they are used."""

from threading import Lock
from weakref import WeakValueDictionary

import structlog

from nous.llm.base import Model, Question, Reply
from nous.llm.state import ResponseStore, UsageCounters

log = structlog.get_logger(__name__)


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
        # A lock for each question that a thread asks now; it goes with the last of these threads.
        self._turns = WeakValueDictionary[tuple[str, str], Lock]()

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        with self._lock:
            turn = self._turns.setdefault((str(question.matter.subject), question.digest), Lock())
        with turn:
            found = self._responses.find(question, self.id)
            if found:
                self._counters.count(self.id, remembered=1)
                return found
            reply = self._model.ask(question)
            if question.earlier:
                self._counters.count(self.id, asked_again=1)
                log.info("model.repair_requested", model=self.id, complaint=question.earlier[-1].complaint)
            return self._responses.save(question, self.id, reply)
