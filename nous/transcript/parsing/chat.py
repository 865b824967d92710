"""Base parser for chat formats: role messages in a list, in an object, or one per line."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.blocks import BlockReading
from nous.transcript.parsing.plain_chat import another_session, own_name
from nous.transcript.parsing.values import as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, RecordPlace, Sample

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_OTHER_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant"}
_ENOUGH = 0.5


class Look(NamedTuple):
    """Format signals in a sample: mostly messages, Anthropic content, OpenAI content."""

    is_chat: bool
    is_anthropic: bool
    is_openai: bool


def look(sample: Sample) -> Look:
    found = [message for record in sample.records for message in _in_record(record)]
    chat = [message for message in found if is_message(message)]
    return Look(
        is_chat=bool(chat) and len(chat) >= _ENOUGH * max(len(found), len(sample.records)),
        is_anthropic=any(_has_block(message) for message in chat)
        or any("system" in record and "messages" in record for record in sample.records),
        is_openai=any("tool_calls" in message or role_of(message) in {"tool", "developer"} for message in chat),
    )


def is_message(value: Mapping[str, Any]) -> bool:
    return role_of(value) in ROLES and ("content" in value or "tool_calls" in value)


def role_of(value: Mapping[str, Any]) -> str:
    role = str(value.get("role")).lower()
    return _OTHER_ROLES.get(role, role)


@dataclass(slots=True)
class ChatReading(BlockReading):
    """Base reading for role messages; marks where another session starts in the same file."""

    messages: int = 0
    sessions: int = 0

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        self.notes.learn(model=as_text(value.get("model")), session_id=as_text(value.get("session_id")))
        is_session = isinstance(value.get("messages"), list)
        self.sessions += is_session
        if is_session and self.sessions > 1:
            yield self._place(record).draft(Kind.SYSTEM, another_session(own_name(value)))
        for inside in _in_record(value):
            place = self._place(record, parse_time(inside.get("timestamp", inside.get("created_at"))))
            if is_message(inside):
                yield from self.message(role_of(inside), inside, place)
            else:
                self.notes.skip("not a message")

    @abstractmethod
    def message(self, role: str, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return the drafts of one message; *role* is normalized."""

    def _place(self, record: Record, time: Any = None) -> RecordPlace:
        self.messages += 1
        return RecordPlace(f"message-{self.messages}", record.line, record.offset, time)


def _in_record(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the messages in *record*, with its system prompt first; else *record* itself."""
    held = record.get("messages")
    if not isinstance(held, list):
        return [record]
    inside = [as_object(value) for value in as_list(held)]
    system = record.get("system")
    return [{"role": "system", "content": system}, *inside] if system else inside


def _has_block(message: Mapping[str, Any]) -> bool:
    return any(str(as_object(block).get("type")) in ANTHROPIC_BLOCKS for block in as_list(message.get("content")))
