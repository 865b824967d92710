"""Parse Hermes sessions (`~/.hermes/sessions/*.json`, JSON lines, exports) into entries.

Messages are those of Chat Completions, with the model's thoughts beside them. The file has the times when the session
began and was saved, but not always those of its messages.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.blocks import text_of
from nous.transcript.parsing.chat import ChatReading, Parts, calls_in
from nous.transcript.parsing.fields import JsonObject, count_at, marks, object_at, objects_at, text_at
from nous.transcript.parsing.values import as_arguments
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_OWN_ROLE = "session_meta"
_COMPACTED = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
_NOT_FROM_A_PERSON = marks("hermes", "not_from_a_person")
_REASONING = ("reasoning", "reasoning_content")
_ERROR = "error"


def _confidence(sample: Sample) -> float:
    if any(record.get("role") == _OWN_ROLE for record in sample.records):
        return 0.95
    record = sample.records[0]
    if not isinstance(record.get("messages"), list):
        return 0.0
    is_own = any(message.get("role") == _OWN_ROLE for message in objects_at(record, "messages"))
    if is_own or ("session_start" in record and ("session_id" in record or "platform" in record)):
        return 0.96
    is_counted = "message_count" in record
    return 0.95 if is_counted and ("platform" in record or {"source", "started_at"} <= record.keys()) else 0.0


@dataclass(slots=True)
class _Session(ChatReading):
    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        if not isinstance(value.get("messages"), list):
            yield from self.message(str(value.get("role")), value, self.place(record, value))
            return
        self._introduce(value)
        if prompt := text_at(value, "system_prompt").strip():
            yield RecordPlace("system", record.line, record.offset).draft(Kind.SYSTEM, prompt)
        said = objects_at(value, "messages")
        spoken = [number for number, message in enumerate(said) if message.get("role") != _OWN_ROLE]
        for number, message in enumerate(said):
            time: Any = message.get("timestamp")
            if time is None and number in spoken[:1]:
                time = value.get("session_start", value.get("started_at"))
            elif time is None and number in spoken[-1:]:
                time = value.get("last_updated", value.get("ended_at"))
            yield from self.message(str(message.get("role")), message, self.place(record, {"timestamp": time}))

    def _introduce(self, value: JsonObject) -> None:
        config = object_at(value, "model_config")
        self.notes.learn(
            session_id=text_at(value, "session_id", "id"),
            title=text_at(value, "title"),
            model=text_at(value, "model") or text_at(config, "model"),
            cwd=text_at(value, "cwd") or text_at(config, "cwd"),
        )

    def message(self, role: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = text_of(value.get("content"))
        match role:
            case "user" if content.startswith(_COMPACTED):
                return (place.draft(Kind.SUMMARY, content),)
            case "user" if content.startswith(_NOT_FROM_A_PERSON):
                return (place.draft(Kind.SYSTEM, content, is_meta=True),)
            case "user" | "system":
                return self.of_role(role, Parts([content]), place)
            case "assistant":
                return self._answered(content, value, place)
            case "tool":
                return (self._result(content, value, place),)
            case _:
                self.notes.learn(model=text_at(value, "model"))
                return self.skip(role)

    def _answered(self, text: str, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        """Yield an answer; a summary of what was compacted may stand at its beginning."""
        hidden = ["codex_reasoning_items"] if value.get("codex_reasoning_items") else []
        self.notes.skipped.update(hidden)
        for draft in self.answered(Parts([text], [text_at(value, *_REASONING)], calls_in(value), hidden), place):
            if draft.kind is Kind.ASSISTANT and text.startswith(_COMPACTED):
                draft.kind = Kind.SUMMARY
            yield draft

    def _result(self, text: str, value: JsonObject, place: RecordPlace) -> Draft:
        """Return the result of a call; most tools answer with JSON that shows whether they failed."""
        answer = as_arguments(text) if text.startswith("{") else {}
        failed = value.get("finish_reason") == _ERROR or bool(answer.get(_ERROR)) or answer.get("success") is False
        failed = failed or count_at(answer, "exit_code") != 0
        tool = text_at(value, "tool_name", "name")
        return self.result(text, text_at(value, "tool_call_id"), place, is_error=failed, tool=tool)


READER = FormatReader("hermes", _confidence, _Session)
