"""Reader for Hermes sessions: `~/.hermes/sessions/*.json`, gateway transcripts, exports.

Exports are the output of `hermes sessions export`. Messages are those of Chat Completions, with the model's thoughts
beside them. The file has the times when the session began and was saved, but not always those of its messages.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import text_of
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_OWN_ROLE = "session_meta"
_COMPACTED = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
_NOT_FROM_A_PERSON = (
    "[ASYNC DELEGATION",
    "[IMPORTANT: Background process",
    "[PRIOR CONTEXT",
    "[Your active task list was preserved",
    "[Continuing toward your standing goal]",
)
_REASONING = ("reasoning", "reasoning_content")
_INPUT_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens")
_ERROR = "error"


class Hermes:
    """Recognizes Hermes by its session fields, which other chats lack."""

    format = "hermes"

    def sniff(self, sample: Sample) -> float:
        if any(record.get("role") == _OWN_ROLE for record in sample.records):
            return 0.95
        return max(map(_likeness, sample.records[:1]), default=0.0)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Hermes()


def _likeness(record: Mapping[str, Any]) -> float:
    messages = record.get("messages")
    if not isinstance(messages, list):
        return 0.0
    if any(as_object(message).get("role") == _OWN_ROLE for message in as_list(messages)):
        return 0.96
    if "session_start" in record and ("session_id" in record or "platform" in record):
        return 0.96
    is_counted = "message_count" in record
    return 0.95 if is_counted and ("platform" in record or {"source", "started_at"} <= record.keys()) else 0.0


@dataclass(slots=True)
class _Session(AgentReading):
    """The messages of a session, in one document or one per line."""

    messages: int = 0

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        if not isinstance(value.get("messages"), list):
            yield from self._message(value, self._place(record, value.get("timestamp")))
            return
        self._introduce(value)
        if prompt := as_text(value.get("system_prompt")).strip():
            yield RecordPlace("system", record.line, record.offset).draft(Kind.SYSTEM, prompt)
        said = [as_object(message) for message in as_list(value["messages"])]
        spoken = [number for number, message in enumerate(said) if message.get("role") != _OWN_ROLE]
        for number, message in enumerate(said):
            time: Any = message.get("timestamp")
            if time is None and number in spoken[:1]:
                time = value.get("session_start", value.get("started_at"))
            elif time is None and number in spoken[-1:]:
                time = value.get("last_updated", value.get("ended_at"))
            yield from self._message(message, self._place(record, time))

    def _place(self, record: Record, time: object) -> RecordPlace:
        self.messages += 1
        return RecordPlace(f"message-{self.messages}", record.line, record.offset, parse_time(time))

    def _introduce(self, value: Mapping[str, Any]) -> None:
        config = as_object(value.get("model_config"))
        self.notes.learn(
            session_id=as_text(value.get("session_id")) or as_text(value.get("id")),
            parent_session_id=as_text(value.get("parent_session_id")),
            title=as_text(value.get("title")),
            model=as_text(value.get("model")) or as_text(config.get("model")),
            cwd=as_text(value.get("cwd")) or as_text(config.get("cwd")),
            input_tokens=sum(as_count(value.get(name)) for name in _INPUT_TOKENS),
            output_tokens=as_count(value.get("output_tokens")),
        )

    def _message(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        content = text_of(value.get("content"))
        match value.get("role"):
            case "user" if content.startswith(_COMPACTED):
                return (place.draft(Kind.SUMMARY, content),)
            case "user" if content.startswith(_NOT_FROM_A_PERSON):
                return (place.draft(Kind.SYSTEM, content, is_meta=True),)
            case "user":
                return self.said([content], place)
            case "assistant":
                return self._answered(content, value, place)
            case "tool":
                return (self._result(content, value, place),)
            case "system":
                return (place.draft(Kind.SYSTEM, content),)
            case role:
                self.notes.learn(model=as_text(value.get("model")))
                self.notes.skip(as_text(role) or "not a message")
                return ()

    def _answered(self, text: str, value: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        thought = next((found for name in _REASONING if (found := as_text(value.get(name)).strip())), "")
        requested = [request for call in as_list(value.get("tool_calls")) if (request := as_object(call))]
        if thought:
            yield place.draft(Kind.THINKING, thought, len(requested) + 1)
        if value.get("codex_reasoning_items"):
            self.notes.skip("codex_reasoning_items")
        if text.startswith(_COMPACTED):
            yield place.draft(Kind.SUMMARY, text)
        elif text.strip():
            yield place.draft(Kind.ASSISTANT, text.strip())
        for part, request in enumerate(requested, 1):
            function = as_object(request.get("function")) or request
            own = as_text(request.get("id")) or as_text(request.get("call_id"))
            yield self.call(as_text(function.get("name")), as_arguments(function.get("arguments")), own, place, part)

    def _result(self, text: str, value: Mapping[str, Any], place: RecordPlace) -> Draft:
        """Return the result of a call; most tools answer with JSON that shows whether they failed."""
        answer = as_arguments(text) if text.startswith("{") else {}
        failed = value.get("finish_reason") == _ERROR or bool(answer.get(_ERROR)) or answer.get("success") is False
        return self.result(
            text,
            as_text(value.get("tool_call_id")),
            place,
            is_error=failed or as_count(answer.get("exit_code")) != 0,
            tool=as_text(value.get("tool_name")) or as_text(value.get("name")),
        )
