"""What chat formats have in common: messages with a role, in a list, in an object, or one a line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Place
from nous.transcript.fields import as_list, as_object, as_text
from nous.transcript.records import records
from nous.transcript.timestamps import parse_time

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_ENOUGH = 0.5
_SESSION = "session"


class Message(NamedTuple):
    """A message, and where it stands. One with the role `session` says that another session begins."""

    role: str
    value: Mapping[str, Any]
    place: Place


class Look(NamedTuple):
    """What a sample looks like: whether most of it is messages, and whose marks they bear."""

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
        is_openai=any("tool_calls" in message or message["role"] in {"tool", "developer"} for message in chat),
    )


def is_message(value: Mapping[str, Any]) -> bool:
    return str(value.get("role")) in ROLES and ("content" in value or "tool_calls" in value)


def messages(stream: BinaryIO, notes: Notes) -> Iterator[Message]:
    """Every message in *stream*. Where several sessions follow each other, one of the role `session` parts them."""
    number = 0
    sessions = 0
    for record in records(stream, notes):
        notes.learn(model=as_text(record.value.get("model")), session_id=as_text(record.value.get("session_id")))
        is_session = isinstance(record.value.get("messages"), list)
        sessions += is_session
        if is_session and sessions > 1:
            number += 1
            yield Message(_SESSION, record.value, Place(f"message-{number}", record.line, record.offset))
        for value in _in_record(record.value):
            number += 1
            if not is_message(value):
                notes.skip("not a message")
                continue
            time = parse_time(value.get("timestamp", value.get("created_at")))
            place = Place(f"message-{number}", record.line, record.offset, time)
            yield Message(str(value["role"]), value, place)


def session_mark(message: Message) -> str:
    """What to say where another session begins."""
    own = next((message.value[key] for key in ("session_id", "id", "task_id") if key in message.value), None)
    return "Another session begins" if own is None else f"Another session begins: {own}"


def _in_record(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The messages that *record* holds, after its system prompt; or itself."""
    held = record.get("messages")
    if not isinstance(held, list):
        return [record]
    inside = [as_object(value) for value in as_list(held)]
    system = record.get("system")
    return [{"role": "system", "content": system}, *inside] if system else inside


def _has_block(message: Mapping[str, Any]) -> bool:
    return any(str(as_object(block).get("type")) in ANTHROPIC_BLOCKS for block in as_list(message.get("content")))
