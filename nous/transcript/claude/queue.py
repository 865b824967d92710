"""What the user typed while Claude Code was at work."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from nous.transcript.base import Notes
from nous.transcript.blocks import Place, text_of
from nous.transcript.model import Entry, Kind
from nous.transcript.words import said_by_user

_TASK = re.compile(r"\s*\{\s*\"task_id\"")


class Queue:
    """Follows the queue. A message taken out of it was given to the model, and often nothing else in the file says so.

    Where something else does (an attachment, or a prompt of its own, before or after), the same words come twice.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._waiting: deque[str] = deque()
        self._given: set[str] = set()
        self._latest = ""

    def moved(self, operation: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        """What a `queue-operation` record gives to the model."""
        self._notes.skip("queue-operation")
        match operation.get("operation"):
            case "enqueue":
                self._waiting.append(text_of(operation.get("content")))
            case "remove" if self._waiting:
                yield from self._give(self._waiting.popleft(), place)
            case "dequeue" if self._waiting:
                self._waiting.popleft()
            case "popAll":
                self._waiting.clear()
            case _:
                pass

    def is_new(self, words: str) -> bool:
        """Whether these words of the user, read elsewhere, were not given from the queue since the last prompt."""
        if words in self._given:
            self._given.discard(words)
            self._notes.skip("repeated from the queue")
            return False
        self._given.clear()
        self._latest = words
        return True

    def _give(self, text: str, place: Place) -> Iterator[Entry]:
        said = said_by_user(text)
        is_bare_command = text.startswith("/") and " " not in text.strip()
        if said.kind is not Kind.USER or is_bare_command or _TASK.match(text) or said.text == self._latest:
            return
        self._given.add(said.text)
        yield place.entry(Kind.USER, said.text)
