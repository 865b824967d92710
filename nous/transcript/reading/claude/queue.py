"""What the user typed while Claude Code was at work."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.blocks import text_of
from nous.transcript.reading.words import said_by_user

_TASK = re.compile(r"\s*\{\s*\"task_id\"")


@dataclass(slots=True)
class Waiting:
    """A message in the queue, where it was typed, and whether a prompt of its own has said it since."""

    text: str
    place: Place
    is_said: bool = False


@dataclass(slots=True)
class Queue:
    """Follows the queue. A message taken out of it was given to the model, and often nothing else in the file says so.

    Where something else does (an attachment, or a prompt of its own, before or after), the same words come twice.
    """

    waiting: list[Waiting] = field(default_factory=list[Waiting])
    given: set[str] = field(default_factory=set[str])

    def moved(self, operation: Mapping[str, Any], place: Place) -> Draft | None:
        """What a `queue-operation` record gives to the model."""
        text = text_of(operation.get("content"))
        match operation.get("operation"):
            case "enqueue":
                self.waiting.append(Waiting(text, place))
            case "remove" if self.waiting:
                return self._give(self.waiting.pop(self._index_of(text)), place)
            case "dequeue" if self.waiting:
                self.waiting.pop(self._index_of(text))
            case "popAll":
                self.waiting.clear()
            case _:
                pass
        return None

    def has_given(self, words: str) -> bool:
        """Whether these words of the user, read elsewhere, were already given from the queue since the last prompt."""
        if words in self.given:
            self.given.discard(words)
            return True
        self.given.clear()
        for message in self.waiting:
            if not message.is_said and said_by_user(message.text).text == words:
                message.is_said = True
                break
        return False

    def left(self) -> Iterator[Draft]:
        """What was typed but never taken out: nobody has answered it yet, or the session ended."""
        for message in self.waiting:
            if draft := self._give(message, message.place):
                yield draft

    def _index_of(self, text: str) -> int:
        """Where *text* waits; the first place if the record does not say what it takes."""
        return next((index for index, message in enumerate(self.waiting) if text and message.text == text), 0)

    def _give(self, message: Waiting, place: Place) -> Draft | None:
        text, said = message.text, said_by_user(message.text)
        is_bare_command = text.startswith("/") and " " not in text.strip()
        if said.kind is not Kind.USER or is_bare_command or _TASK.match(text) or message.is_said:
            return None
        self.given.add(said.text)
        return place.draft(Kind.USER, said.text)
