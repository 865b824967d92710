"""A model in front of another, whose answers are kept before they are used."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

import structlog

from nous.llm.base import Model, Question, Reply
from nous.llm.state import Pins, Tally

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Turn:
    """Whose turn it is to ask one question, and how many wait or ask."""

    lock: Lock = field(default_factory=Lock)
    count: int = 0


class Pinned:
    """After an answer is there, no attempt, crash or refused commit asks for it again while it is kept.

    Threads that ask the same at once ask once. An answer that turns out to be of no use is kept too: asking the same
    would cost as much, and say as little. Only an answer that may quote what was forgotten meanwhile is not kept.
    """

    def __init__(self, model: Model, pins: Pins, tally: Tally) -> None:
        self._model = model
        self._pins = pins
        self._tally = tally
        self._lock = Lock()
        self._turns: dict[tuple[str, str], _Turn] = {}

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        with self._alone(question):
            found = self._pins.find(question, self.id)
            if found:
                self._tally.count(self.id, remembered=1)
                return found
            reply = self._model.ask(question)
            if question.earlier:
                self._tally.count(self.id, asked_again=1)
                log.info("the model is asked again", model=self.id, complaint=question.earlier[-1].complaint)
            return self._pins.pin(question, self.id, reply)

    @contextmanager
    def _alone(self, question: Question) -> Generator[None]:
        """Nobody else in this process is asking the same meanwhile."""
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
