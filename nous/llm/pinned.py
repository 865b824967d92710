"""A model in front of another, whose answers are kept before they are used."""

from nous.llm.base import Model, Question, Reply
from nous.llm.books import Pins, Tally


class Pinned:
    """After an answer is there, no attempt, crash or refused commit asks for it again while it is kept.

    An answer that turns out to be of no use is kept too: asking the same would cost as much, and say as little.
    """

    def __init__(self, model: Model, pins: Pins, tally: Tally) -> None:
        self._model = model
        self._pins = pins
        self._tally = tally

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        found = self._pins.find(question, self.id)
        if found:
            self._tally.count(self.id, remembered=1)
            return found
        return self._pins.pin(question, self.id, self._model.ask(question))
