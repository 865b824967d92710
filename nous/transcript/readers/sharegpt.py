"""Parse ShareGPT `{conversations: [{from, value}]}`, or only the turns, into entries.

Calls and results have no ids: results come in the order of the calls.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, Parts, own_name, reports_failure
from nous.transcript.parsing.fields import JsonObject, text_at
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text, parsed
from nous.transcript.reader import Draft, FormatReader, RecordPlace

_SPEAKERS = {
    "user": ("human", "user"),
    "assistant": ("gpt", "assistant", "model", "chatgpt", "ai", "bot", "bing", "bard", "claude"),
    "system": ("system",),
    "call": ("function_call", "tool_call"),
    "function": ("function",),
    "tool": ("observation", "tool", "function_response", "tool_response", "function_result", "ipython"),
}
_ROLES = {name: role for role, names in _SPEAKERS.items() for name in names}
_LISTS = ("conversations", "conversation", "messages")
_BESIDE = ("tools", "chosen", "rejected")


def _likeness(record: JsonObject) -> float:
    held = _held(record)
    if held is None:
        return 0.85 if "value" in record and _role(record) else 0.0
    turns = [as_object(turn) for turn in held]
    if turns and all("from" in turn and "value" in turn for turn in turns):
        return 0.95
    is_ours = not isinstance(record.get("messages"), list) and turns
    return 0.8 if is_ours and all(map(_role, turns)) else 0.0


def _held(record: JsonObject) -> Sequence[Any] | None:
    return next((as_list(record[key]) for key in _LISTS if isinstance(record.get(key), list)), None)


def _role(turn: JsonObject) -> str:
    return _ROLES.get(as_text(turn.get("from", turn.get("role"))).lower(), "")


@dataclass(slots=True)
class _Shared(ChatReading):
    """The turns of shared chats; `open` are the calls without a result, oldest first."""

    requests: int = 0
    open: list[str] = field(default_factory=list[str])

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        held = _held(value)
        if held is not None:
            yield from self._begin(value, record)
        for turn in [value] if held is None else map(as_object, held):
            yield from self._turn(turn, self.place(record, value))

    def _begin(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        self.open.clear()
        own = own_name(value)
        self.notes.learn(session_id=own, title=text_at(value, "title"), model=text_at(value, "model"))
        yield from self.begun(own, record)
        if system := text_at(value, "system"):
            yield from self.text_or_skip(Kind.SYSTEM, system, self.place(record, value))
        self.notes.skipped.update(name for name in _BESIDE if value.get(name))

    def _turn(self, turn: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        role, said = _role(turn), as_shown(turn.get("value", turn.get("content")))
        if role == "function":
            role = "call" if _calls(said) else "tool"
        if not role or not (said.strip() or role == "tool"):
            return self.skip("empty turn" if role else "not a turn")
        if role == "user":
            self.open.clear()
        special = {"call": self._requested, "tool": self._result}.get(role)
        return special(said, place) if special else self.of_role(role, Parts([said]), place)

    def _requested(self, said: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield the calls in a JSON text; other text becomes arguments of a nameless call."""
        for part, requested in enumerate(_calls(said) or [{"arguments": said}]):
            self.requests += 1
            self.open.append(f"call-{self.requests}")
            given = as_arguments(requested.get("arguments", requested.get("parameters")))
            yield self.call(text_at(requested, "name"), given, self.open[-1], place, part)

    def _result(self, said: str, place: RecordPlace) -> Iterator[Draft]:
        own = self.open.pop(0) if self.open else ""
        text = _content(said)
        yield self.result(text, own, place, is_error=reports_failure(text))


def _calls(said: str) -> Sequence[JsonObject]:
    found = parsed(said)
    calls = [as_object(call) for call in (as_list(found) or [found])]
    return calls if any("name" in call for call in calls) else []


def _content(said: str) -> str:
    found = as_object(parsed(said))
    is_wrapped = "content" in found and ("name" in found or "tool_call_id" in found)
    return as_shown(found["content"]) if is_wrapped else said


READER = FormatReader("sharegpt", lambda sample: sample.share(_likeness), _Shared)
