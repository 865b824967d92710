"""Session header and prompt queue of Claude Code transcripts.

Header values are collected from records all over the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import text_of
from nous.transcript.parsing.user_text import said_by_user
from nous.transcript.parsing.values import as_count, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace

_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Record types that hold a title, and the field with it; the most trusted first."""


@dataclass(slots=True)
class ClaudeSessionInfo:
    """Collects the session header from the records of a file.

    `introduce` and `charge` learn values at the first message. `conclude` adds those that need the whole file. `usage`
    maps message ids to tokens (read, written).
    """

    is_sub_agents: bool | None = None
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    titles: dict[str, str] = field(default_factory=dict[str, str])

    def introduce(self, record: Mapping[str, Any], notes: ReadNotes) -> None:
        """Learn the session, directory and branch from the first message of the file's session.

        A file belongs to the session of that message. If the file began with messages of a sub-agent, a second call
        with the main session's message replaces the session ids.
        """
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

    def charge(self, own: str, message: Mapping[str, Any], notes: ReadNotes) -> None:
        """Keep the final token usage of the message *own*.

        Several records of one message repeat or complete its usage. The one with the most output tokens counts.
        """
        if notes.header.model is None and not (model := as_text(message.get("model"))).startswith("<"):
            notes.learn(model=model)
        usage = as_object(message.get("usage"))
        written = as_count(usage.get("output_tokens"))
        if own in self.usage and self.usage[own][1] >= written:
            return
        self.usage[own] = sum(as_count(usage.get(name)) for name in _READ_TOKENS), written

    def title(self, record: Mapping[str, Any]) -> None:
        """Store a title of this session; a later one of the same type replaces it."""
        kind = as_text(record.get("type"))
        self.titles[kind] = as_text(record.get(_TITLES[kind]))

    def conclude(self, notes: ReadNotes) -> None:
        """Learn the title and the token totals, which need the whole file."""
        title = next((self.titles[kind] for kind in _TITLES if self.titles.get(kind)), None)
        read = sum(tokens for tokens, _ in self.usage.values())
        written = sum(tokens for _, tokens in self.usage.values())
        notes.learn(title=title, input_tokens=read, output_tokens=written)


_TASK = re.compile(r"\s*\{\s*\"task_id\"")


@dataclass(slots=True)
class QueuedPrompt:
    """A queued message and the place where it was typed.

    `is_said`: a separate prompt record has repeated it since.
    """

    text: str
    place: RecordPlace
    is_said: bool = False


@dataclass(slots=True)
class PromptQueue:
    """Tracks messages that the user queued while the model was working.

    A message removed from the queue went to the model, often without any other record in the file. Where another record
    exists (an attachment, or a separate prompt before or after), the same words appear twice. `has_given` detects that.
    """

    waiting: list[QueuedPrompt] = field(default_factory=list[QueuedPrompt])
    given: set[str] = field(default_factory=set[str])

    def moved(self, operation: Mapping[str, Any], place: RecordPlace) -> Draft | None:
        """Apply a `queue-operation` record; return the draft of a message that goes to the model."""
        text = text_of(operation.get("content"))
        match operation.get("operation"):
            case "enqueue":
                self.waiting.append(QueuedPrompt(text, place))
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
        """Return whether the queue has emitted *words* since the last prompt.

        *words* are the user's words in another record. A waiting message with the same words is marked as said, so that
        it is not emitted a second time.
        """
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
        """Yield the messages that are still queued at the end of the file.

        They are typed but unanswered: the model has not reached them yet, or the session ended.
        """
        for message in self.waiting:
            if draft := self._give(message, message.place):
                yield draft

    def _index_of(self, text: str) -> int:
        """Return the index of *text* in the queue; 0 if the record does not name its message."""
        return next((index for index, message in enumerate(self.waiting) if text and message.text == text), 0)

    def _give(self, message: QueuedPrompt, place: RecordPlace) -> Draft | None:
        text, said = message.text, said_by_user(message.text)
        is_bare_command = text.startswith("/") and " " not in text.strip()
        if said.kind is not Kind.USER or is_bare_command or _TASK.match(text) or message.is_said:
            return None
        self.given.add(said.text)
        return place.draft(Kind.USER, said.text)
