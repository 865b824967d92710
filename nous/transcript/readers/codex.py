"""Parse Codex CLI transcripts (`~/.codex/sessions/<date>/rollout-*.jsonl`) into entries.

A message appears twice or more: as an item of the conversation with the model, and as events. Until September 2025 the
lines were the items themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.codex.conversation import EVENT
from nous.transcript.parsing.codex.events import EventReading
from nous.transcript.parsing.fields import JsonObject, marks, object_at, text_at
from nous.transcript.parsing.sessions import digest_of
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "inter_agent")
_ITEMS = frozenset(marks("codex", "items"))
_FOREIGN = frozenset({"uuid", "sessionId", "session_id", "payload", "message"})
_NAMES = frozenset({"function", "name", "call_id"})
_MOST = 0.4


def _confidence(sample: Sample) -> float:
    first = sample.records[0].keys()
    if {"id", "timestamp", "instructions"} <= first and not {"type", "role", "messages"} & first:
        return 0.97  # a rollout from before October 2025
    wrapped = sample.share(_is_wrapped)
    if wrapped >= _MOST:
        return 0.5 + 0.45 * wrapped
    return 0.75 if wrapped + sample.share(_is_flat) >= _MOST else 0.0


def _is_wrapped(record: JsonObject) -> bool:
    return str(record.get("type")).startswith(_TYPES) and isinstance(record.get("payload"), dict)


def _is_flat(record: JsonObject) -> bool:
    """Return whether *record* is an item with its time on the same line."""
    has_time = "timestamp" in record or "created_at" in record
    is_item = str(record.get("type")) in _ITEMS and not _NAMES.isdisjoint(record)
    return has_time and is_item and _FOREIGN.isdisjoint(record)


@dataclass(slots=True)
class _Session(EventReading):
    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        payload = object_at(value, "payload")
        time = parse_time(value.get("timestamp", value.get("created_at")))
        own = text_at(payload or value, "id") or f"line-{record.line}-{record.offset}"
        place = RecordPlace(own, record.line, record.offset, time)
        if "payload" in value:
            return self._of(str(value.get("type", "no type")), payload, place)
        if value.get("record_type"):
            return self.skip(f"record: {value['record_type']}")
        if "type" not in value and "role" not in value and not self.is_introduced:
            self.introduce(value)
            return ()
        self.notes.learn(model=text_at(value, "model"))
        return self.of_response(value, place)

    def _of(self, kind: str, payload: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "response_item":
                return self.of_response(payload, place)
            case "event_msg" if payload.get("type") == "item_completed":
                item = object_at(payload, "item")
                return self.of_item(item, place._replace(id=text_at(item, "id") or place.id))
            case "event_msg":
                return self.of_event(payload, place)
            case "compacted":
                # The messages that the summary replaces are in the file already.
                message = text_at(payload, "message").strip()
                if message and self.is_repeated(digest_of(message), "repeated summary"):
                    return ()
                return self.text_or_skip(Kind.SUMMARY, message, place, kind)
            case "inter_agent_communication":
                return self.between_agents(payload, EVENT, place)
            case "session_meta":
                self.introduce(payload)
            case "turn_context":
                self.settings(payload)
                self.notes.skip(kind)
            case _:
                self.notes.skip(kind)
        return ()


READER = FormatReader("codex", _confidence, _Session)
