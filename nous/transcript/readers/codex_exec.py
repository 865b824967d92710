"""Parse the output of `codex exec --json` (events of threads, turns, items) into entries.

Until September 2025 it held the settings, the prompt, and events as `{id, msg}`. Today it has no prompt.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.codex.conversation import EVENT
from nous.transcript.parsing.codex.events import EventReading
from nous.transcript.parsing.fields import JsonObject, object_at, text_at
from nous.transcript.parsing.values import as_object, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_TURNS = frozenset({"thread.started", "thread.resumed", "turn.started", "turn.completed", "turn.failed"})
_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_SETTINGS = frozenset({"model", "workdir", "provider", "approval", "sandbox"})
_ENOUGH = 0.5


def _confidence(sample: Sample) -> float:
    marked = sample.share(_is_marked)
    return 0.5 + 0.45 * marked if marked >= _ENOUGH else 0.0


def _is_marked(record: JsonObject) -> bool:
    if "msg" in record:
        return "id" in record and isinstance(as_object(record["msg"]).get("type"), str)
    kind = str(record.get("type"))
    return kind in _TURNS or (kind in _ITEMS and isinstance(record.get("item"), dict))


@dataclass(slots=True)
class _Run(EventReading):
    """The events of a run, in which the user is never asked for approval."""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        self.is_asked = False
        time = parse_time(value.get("timestamp"))
        place = RecordPlace(f"line-{record.line}-{record.offset}", record.line, record.offset, time)
        event = object_at(value, "msg")
        if event.get("type") == "session_configured":
            self.notes.learn(session_id=text_at(event, "session_id"), model=text_at(event, "model"))
            return ()
        if "msg" in value:
            return self.of_event(event, place)
        if "type" in value:
            return self._of(str(value["type"]), value, place)
        if "prompt" in value:
            return self.user([text_at(value, "prompt")], EVENT, place)
        if _SETTINGS.isdisjoint(value):
            return self.skip("no type")
        self.notes.learn(model=text_at(value, "model"), cwd=text_at(value, "workdir"))
        return ()

    def _of(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        item = object_at(value, "item")
        match kind:
            case "item.completed":
                return self.of_item(item, place)
            case "item.started" | "item.updated":
                self.notes.skip("item under way")
            case "thread.started" | "thread.resumed":
                self.notes.learn(session_id=text_at(value, "thread_id"))
                self.copies.clear()
                self.observed.clear()
            case "error":
                return self.of_event(value, place)
            case "turn.failed":
                why = text_at(object_at(value, "error"), "message") or "no reason given"
                return self.once(place.draft(Kind.ERROR, why, is_error=True), kind)
            case _:
                self.notes.skip(kind)
        return ()


READER = FormatReader("codex_exec", _confidence, _Run)
