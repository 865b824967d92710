"""Parse content blocks and chat messages (role, content, tool calls) into draft entries."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import SessionReading
from nous.transcript.parsing.values import as_arguments, as_list, as_object, parse_time
from nous.transcript.reader import Draft, RecordPlace, Sample


@dataclass(slots=True)
class BlockReading(SessionReading):
    def of_user(self, content: object, place: RecordPlace, *, is_meta: bool = False, **decided: bool) -> list[Draft]:
        """Return drafts of a user message: one per tool result, then the user's own text.

        With *is_meta* no person wrote the text. *decided* are `is_rejected` and `is_decided` of `outcome`.
        """
        drafts: list[Draft] = []
        said: list[str] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content)):
            match block.get("type"):
                case "text":
                    said.append(text_at(block, "text"))
                case "tool_result":
                    own, failed = text_at(block, "tool_use_id"), block.get("is_error") is True
                    text = self.text(block.get("content"))
                    drafts.append(self.result(text, own, place, part, tool="", is_error=failed, **decided))
                case kind:
                    self.notes.skip(f"{kind} block")
        if is_meta:
            drafts += (place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(said) if text)
        elif said:
            drafts += self.said(said, place)
        return drafts

    def of_assistant(self, content: object, place: RecordPlace, *, message: str, first: int = 0) -> list[Draft]:
        """Return drafts of a model message; all its text gets the id *message*, to be merged."""
        drafts: list[Draft] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content), first):
            match block.get("type"):
                case "text":
                    for draft in self.text_or_skip(Kind.ASSISTANT, text_at(block, "text"), place, "empty text"):
                        draft.id = message
                        drafts.append(draft)
                case "thinking":
                    thought = text_at(block, "thinking")
                    drafts += self.text_or_skip(Kind.THINKING, thought, place, "empty thinking", part)
                case "tool_use" | "server_tool_use" | "toolCall":
                    tool, given = text_at(block, "name"), as_arguments(block.get("input", block.get("arguments")))
                    drafts.append(self.call(tool, given, text_at(block, "id"), place, part))
                case kind:
                    self.notes.skip(f"{kind} block")
        return drafts

    def text(self, content: object) -> str:
        return content if isinstance(content, str) else "\n\n".join(filter(None, self.texts(content)))

    def texts(self, content: object) -> list[str]:
        """Return the texts in *content*, a string or blocks; count other blocks as skipped."""
        texts: list[str] = []
        for block in blocks_in(content):
            if is_text(block):
                texts.append(block["text"])
            else:
                self.notes.skip(f"{block.get('type')} block")
        return texts


_TEXTS = frozenset({"text", "input_text", "output_text", "inputText", "Text"})


def text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in blocks_in(content) if is_text(block))


def is_text(block: JsonObject) -> bool:
    return isinstance(block.get("text"), str) and str(block.get("type", "text")) in _TEXTS


def blocks_in(content: object) -> Sequence[JsonObject]:
    """Return *content* as blocks; a string becomes one text block."""
    found: list[Any] = as_list(content) if isinstance(content, list) else [content]
    if len(found) == 1 and found[0] and isinstance(found[0], dict):  # nearly every message of Claude Code
        return found
    blocks = [{"type": "text", "text": inner} if isinstance(inner, str) else as_object(inner) for inner in found]
    return list(filter(None, blocks))


ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_OTHER_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant"}
_NAMES = ("session_id", "conversation_id", "thread_id", "id", "task_id")
_TIMES = ("timestamp", "created_at", "create_time")
_THOUGHTS = frozenset({"reasoning", "thinking"})
_CALLS = frozenset({"tool_use", "input_json_delta", "function_call", "tool_call", "tool_call_chunk"})
_FAILURE = re.compile(r"(?:\w{0,80}Error|Traceback)\b", re.IGNORECASE)
_ENOUGH = 0.5


def sniff_openai(sample: Sample) -> float:
    """Return the confidence that *sample* holds Chat Completions, or messages like them."""
    chat = _chat_in(sample)
    return 0.0 if not chat else 0.9 if any(map(_is_openai, chat)) else 0.6


def sniff_anthropic(sample: Sample) -> float:
    """Return the confidence that *sample* holds the blocks or bodies of Anthropic messages."""
    chat = _chat_in(sample)
    is_body = any("system" in record and "messages" in record for record in sample.records)
    blocks = (as_object(block) for message in chat for block in as_list(message.get("content")))
    if not chat or not (is_body or any(str(block.get("type")) in _ANTHROPIC_BLOCKS for block in blocks)):
        return 0.0
    return 0.4 if any(map(_is_openai, chat)) else 0.8


def _chat_in(sample: Sample) -> list[JsonObject]:
    found = [message for record in sample.records for message in messages_in(record)]
    chat = [message for message in found if is_message(message)]
    return chat if len(chat) >= _ENOUGH * max(len(found), len(sample.records)) else []


def _is_openai(message: JsonObject) -> bool:
    return "tool_calls" in message or role_of(message) in {"tool", "developer"}


def is_message(value: JsonObject) -> bool:
    return role_of(value) in ROLES and ("content" in value or "tool_calls" in value)


def role_of(value: JsonObject) -> str:
    role = str(value.get("role")).lower()
    return _OTHER_ROLES.get(role, role)


def messages_in(record: JsonObject) -> Sequence[JsonObject]:
    """Return the messages in *record*, with its system prompt first; else *record* itself."""
    held = record.get("messages")
    if not isinstance(held, list):
        return [record]
    inside = objects_at(record, "messages")
    system = record.get("system")
    return [{"role": "system", "content": system}, *inside] if system else inside


def own_name(session: JsonObject) -> str:
    """Return the name or id of a session; empty if it has none."""
    named = (session.get(key) for key in _NAMES)
    return next((str(own) for own in named if isinstance(own, str | int) and not isinstance(own, bool) and own), "")


def reports_failure(result: str) -> bool:
    """Return whether the *result* of a tool reports a failure, for formats without error flags."""
    return _FAILURE.match(result) is not None


class RequestedCall(NamedTuple):
    """A tool call that a message requests; `id` pairs it with its result."""

    id: str
    tool: str
    given: dict[str, Any]


def calls_in(message: JsonObject) -> list[RequestedCall]:
    """Return the calls that *message* requests, in the form of any provider and release."""
    found = as_list(message.get("tool_calls")) + as_list(message.get("invalid_tool_calls"))
    return [_call(call) for value in found or [message.get("function_call")] if (call := as_object(value))]


def _call(call: JsonObject) -> RequestedCall:
    function = object_at(call, "function") or call
    tool = text_at(function, "name")
    own = call.get("call_id") or call.get("id")
    given = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
    return RequestedCall(str(own or tool), tool, as_arguments(given))


@dataclass(slots=True)
class Parts:
    """Content of a message, sorted by type; `passed` names the parts without text."""

    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    passed: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self.texts))


def parts_of(content: object) -> Parts:
    """Sort the parts of *content*, a string, a block, or a list of strings and blocks."""
    found = Parts()
    for block in blocks_in(content):
        kind = str(block.get("type", block.get("content_type", "text")))
        text = block.get("text", block.get("refusal"))
        if kind in _THOUGHTS:
            found.thoughts.append(_thought(block))
        elif kind in _CALLS:
            found.calls += [call for call in [_call(block)] if call.tool]
        elif isinstance(text, str):
            found.texts.append(text)
        else:
            found.passed.append(f"{kind} part")
    return found


def _thought(block: JsonObject) -> str:
    said = (text_at(block, key) for key in ("reasoning", "thinking", "text"))
    summary = (text_at(as_object(part), "text") for part in as_list(block.get("summary")))
    return next(filter(None, said), "") or "\n\n".join(summary)


@dataclass(slots=True)
class ChatReading(BlockReading):
    """Base reading for messages with a role; a reader only says how its container differs."""

    messages: int = 0
    sessions: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        self.notes.learn(model=text_at(value, "model"), session_id=text_at(value, "session_id"))
        if isinstance(value.get("messages"), list):
            yield from self.begun(own_name(value), record)
        for inside in messages_in(value):
            place = self.place(record, inside)
            if is_message(inside):
                yield from self.message(role_of(inside), inside, place)
            else:
                self.notes.skip("not a message")

    def message(self, role: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the drafts of one message in the form of Chat Completions; *role* is normalized."""
        found = self.parts(value.get("content") or value.get("refusal"))
        found.calls = calls_in(value) or found.calls
        tool = text_at(value, "name")
        return self.of_role(role, found, place, call_id=str(value.get("tool_call_id") or tool), tool=tool)

    def place(self, record: Record, message: JsonObject | None = None, *, own: str = "") -> RecordPlace:
        """Return the place of the next message, called *own* or by its number."""
        self.messages += 1
        given = message or {}
        time = next((time for key in _TIMES if (time := parse_time(given.get(key)))), None)
        return RecordPlace(own or f"message-{self.messages}", record.line, record.offset, time)

    def begun(self, name: str, record: Record) -> Iterator[Draft]:
        """Begin a session; yield what marks it, unless it is the first one."""
        self.sessions += 1
        if self.sessions > 1:
            text = f"Another session begins: {name}" if name else "Another session begins"
            yield self.place(record).draft(Kind.SYSTEM, text)

    def parts(self, content: object) -> Parts:
        """Sort the parts of *content*, and count those without text."""
        found = parts_of(content)
        self.notes.skipped.update(found.passed)
        return found

    def of_role(
        self, role: str, found: Parts, place: RecordPlace, *, call_id: str = "", tool: str = "", is_error: bool = False
    ) -> Iterable[Draft]:
        """Return the drafts of a message; *call_id* and *tool* are of the call that it answers."""
        match role:
            case "user":
                return self.said([found.text], place)
            case "assistant":
                return self.answered(found, place)
            case "tool" | "function":
                failed = is_error or reports_failure(found.text)
                return (self.result(found.text, call_id, place, is_error=failed, tool=tool),)
            case _:
                return self.text_or_skip(Kind.SYSTEM, found.text, place)

    def answered(self, found: Parts, place: RecordPlace) -> Iterator[Draft]:
        if thoughts := "\n\n".join(filter(None, found.thoughts)).strip():
            yield place.draft(Kind.THINKING, thoughts, len(found.calls) + 1)
        if text := found.text.strip():
            yield place.draft(Kind.ASSISTANT, text)
        for part, requested in enumerate(found.calls, 1):
            yield self.call(requested.tool, requested.given, requested.id, place, part)
        if not (thoughts or text or found.calls or found.passed):
            self.notes.skip("empty message")
