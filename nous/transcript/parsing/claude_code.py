"""What a file says of its session as a whole, gathered from all over it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nous.transcript.model import Kind, Notes
from nous.transcript.parsing.blocks import text_of
from nous.transcript.parsing.user_text import said_by_user
from nous.transcript.parsing.values import as_count, as_object, as_text
from nous.transcript.reader import Draft, Place

_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Where titles stand, the more trusted first."""


@dataclass(slots=True)
class About:
    """Gathers the header. What is known at the first message is learned at once, the rest when the file is read."""

    is_sub_agents: bool | None = None
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    titles: dict[str, str] = field(default_factory=dict[str, str])

    def introduce(self, record: Mapping[str, Any], notes: Notes) -> None:
        """Learn who is speaking where, from the first message. A file belongs to whom that belongs."""
        self.is_sub_agents = record.get("isSidechain") is True
        if not self.is_sub_agents and notes.header.parent_session_id:
            notes.header = replace(notes.header, session_id=None, parent_session_id=None)
        session, agent = as_text(record.get("sessionId")), as_text(record.get("agentId"))
        is_named_apart = self.is_sub_agents and agent
        notes.learn(
            session_id=f"agent-{agent}" if is_named_apart else session,
            parent_session_id=session if is_named_apart else None,
            cwd=as_text(record.get("cwd")),
            git_branch=as_text(record.get("gitBranch")),
        )

    def charge(self, own: str, message: Mapping[str, Any], notes: Notes) -> None:
        """Keep the last usage that is given for the message *own*: its records repeat or complete it."""
        if notes.header.model is None and not (model := as_text(message.get("model"))).startswith("<"):
            notes.learn(model=model)
        usage = as_object(message.get("usage"))
        written = as_count(usage.get("output_tokens"))
        if own in self.usage and self.usage[own][1] >= written:
            return
        self.usage[own] = sum(as_count(usage.get(name)) for name in _READ_TOKENS), written

    def title(self, record: Mapping[str, Any]) -> None:
        """Remember a title of this session; a later one of the same kind replaces it."""
        kind = as_text(record.get("type"))
        self.titles[kind] = as_text(record.get(_TITLES[kind]))

    def conclude(self, notes: Notes) -> None:
        """Learn what only the whole file tells."""
        title = next((self.titles[kind] for kind in _TITLES if self.titles.get(kind)), None)
        read = sum(tokens for tokens, _ in self.usage.values())
        written = sum(tokens for _, tokens in self.usage.values())
        notes.learn(title=title, input_tokens=read, output_tokens=written)


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
