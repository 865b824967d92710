"""Reader for ShareGPT conversations: `{conversations: [{from, value}]}`, or only the turns.

Accepts one conversation, a list, or lines of them. Calls and results have no ids: results come in the order of the
calls. Hermes data keeps calls and thoughts in tags.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.plain_chat import another_session, own_name, reports_failure, tagged
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_WHO = {
    Kind.USER: ("human", "user"),
    Kind.ASSISTANT: ("gpt", "assistant", "model", "chatgpt", "ai", "bot", "bing", "bard", "claude"),
    Kind.SYSTEM: ("system",),
    Kind.TOOL_CALL: ("function_call", "tool_call", "function"),
    Kind.TOOL_RESULT: ("observation", "tool", "function_response", "tool_response", "function_result", "ipython"),
}
_KINDS = {name: kind for kind, names in _WHO.items() for name in names}
_LISTS = ("conversations", "conversation", "messages")
_BESIDE = ("tools", "chosen", "rejected")
_NATIVE = 0.95
_TURNS = 0.85
_BORROWED = 0.8


class ShareGPT:
    """Reads chats that people and programs share as training data."""

    format = "sharegpt"

    def sniff(self, sample: Sample) -> float:
        if not sample.records:
            return 0.0
        return sum(map(_sureness, sample.records)) / len(sample.records)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Shared(notes)


READER = ShareGPT()


@dataclass(slots=True)
class _Shared(AgentReading):
    """The turns of shared chats; `open` are the calls without a result, oldest first."""

    turns: int = 0
    sessions: int = 0
    made: int = 0
    open: list[str] = field(default_factory=list[str])

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        time = parse_time(value.get("timestamp", value.get("create_time")))
        held = _held(value)
        if held is None:
            yield from self._turn(value, self._place(record, time))
            return
        yield from self._begin(value, self._place(record, time))
        for turn in held:
            yield from self._turn(as_object(turn), self._place(record, time))

    def _begin(self, value: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        """Begin a conversation: learn its name, and yield its system prompt."""
        self.sessions += 1
        self.open.clear()
        own, title = own_name(value), as_text(value.get("title"))
        self.notes.learn(session_id=own, title=title, model=as_text(value.get("model")))
        if self.sessions > 1:
            yield place.draft(Kind.SYSTEM, another_session(own))
        if system := as_text(value.get("system")).strip():
            yield place.draft(Kind.SYSTEM, system, 1)
        for name in _BESIDE:
            if value.get(name):
                self.notes.skip(name)

    def _turn(self, turn: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        who = _speaker(turn)
        said = as_shown(turn.get("value", turn.get("content")))
        kind = _KINDS.get(who.lower())
        if kind is None:
            self.notes.skip("not a turn")
        elif not said.strip() and kind is not Kind.TOOL_RESULT:
            self.notes.skip("empty turn")
        elif kind is Kind.USER:
            self.open.clear()
            yield from self.said([said], place)
        elif kind is Kind.SYSTEM:
            yield place.draft(Kind.SYSTEM, said.strip())
        elif kind is Kind.ASSISTANT:
            yield from self._answered(said, place)
        elif kind is Kind.TOOL_CALL and (who.lower() != "function" or _is_call(said)):
            yield from self._requested(said, place, 0)
        else:
            yield from self._results(said, place)

    def _answered(self, said: str, place: RecordPlace) -> Iterator[Draft]:
        for part, piece in enumerate(tagged(said)):
            if piece.tag == "tool_call":
                yield from self._requested(piece.text, place, part)
            else:
                yield place.draft(Kind.THINKING if piece.tag == "think" else Kind.ASSISTANT, piece.text, part)

    def _requested(self, said: str, place: RecordPlace, first: int) -> Iterator[Draft]:
        """Yield the calls in a JSON text, which may hold several."""
        for part, requested in enumerate(_calls(said), first):
            self.made += 1
            self.open.append(f"call-{self.made}")
            given = as_arguments(requested.get("arguments", requested.get("parameters")))
            yield self.call(as_text(requested.get("name")), given, self.open[-1], place, part)

    def _results(self, said: str, place: RecordPlace) -> Iterator[Draft]:
        responses = [piece.text for piece in tagged(said) if piece.tag == "tool_response"]
        for part, response in enumerate(responses or [said]):
            own = self.open.pop(0) if self.open else ""
            text = _result(response)
            yield self.result(text, own, place, part, is_error=reports_failure(text))

    def _place(self, record: Record, time: Any) -> RecordPlace:
        self.turns += 1
        return RecordPlace(f"turn-{self.turns}", record.line, record.offset, time)


def _sureness(record: Mapping[str, Any]) -> float:
    held = _held(record)
    if held is None:
        return _TURNS if _is_turn(record) else 0.0
    turns = [as_object(turn) for turn in held]
    if turns and all("from" in turn and "value" in turn for turn in turns):
        return _NATIVE
    is_ours = not isinstance(record.get("messages"), list) and turns
    return _BORROWED if is_ours and all(_speaker(turn).lower() in _KINDS for turn in turns) else 0.0


def _held(record: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the turns that *record* lists; None if it is no conversation."""
    return next((as_list(record[key]) for key in _LISTS if isinstance(record.get(key), list)), None)


def _is_turn(record: Mapping[str, Any]) -> bool:
    return "value" in record and as_text(record.get("from")).lower() in _KINDS


def _speaker(turn: Mapping[str, Any]) -> str:
    return as_text(turn.get("from", turn.get("role")))


def _parsed(said: str) -> object:
    try:
        return orjson.loads(said)
    except orjson.JSONDecodeError:
        return None


def _is_call(said: str) -> bool:
    found = _parsed(said)
    return any("name" in as_object(call) for call in (as_list(found) or [found]))


def _calls(said: str) -> Sequence[Mapping[str, Any]]:
    """Return the calls in *said*; other text than JSON becomes arguments of a nameless call."""
    found = _parsed(said)
    calls = [as_object(call) for call in (as_list(found) or [found])]
    return calls if any(calls) else [{"arguments": said}]


def _result(said: str) -> str:
    """Return the text of a result, without the note that names its call."""
    found = as_object(_parsed(said))
    is_wrapped = "content" in found and ("name" in found or "tool_call_id" in found)
    return as_shown(found["content"]) if is_wrapped else said
