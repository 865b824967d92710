"""What the user typed while Claude Code was at work."""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.blocks import text_of
from nous.transcript.reading.words import said_by_user

_TASK = re.compile(r"\s*\{\s*\"task_id\"")


@dataclass(slots=True)
class Queue:
    """Follows the queue. A message taken out of it was given to the model, and often nothing else in the file says so.

    Where something else does (an attachment, or a prompt of its own, before or after), the same words come twice.
    """

    waiting: deque[str] = field(default_factory=deque[str])
    given: set[str] = field(default_factory=set[str])
    latest: str = ""

    def moved(self, operation: Mapping[str, Any], place: Place) -> Draft | None:
        """What a `queue-operation` record gives to the model."""
        match operation.get("operation"):
            case "enqueue":
                self.waiting.append(text_of(operation.get("content")))
            case "remove" if self.waiting:
                return self._give(self.waiting.popleft(), place)
            case "dequeue" if self.waiting:
                self.waiting.popleft()
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
        self.latest = words
        return False

    def _give(self, text: str, place: Place) -> Draft | None:
        said = said_by_user(text)
        is_bare_command = text.startswith("/") and " " not in text.strip()
        if said.kind is not Kind.USER or is_bare_command or _TASK.match(text) or said.text == self.latest:
            return None
        self.given.add(said.text)
        return place.draft(Kind.USER, said.text)
