"""Parse the output of `codex exec --json` (events of threads, turns, items) into entries.

It holds no prompt.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.codex.events import EventReading
from nous.transcript.parsing.fields import JsonObject, object_at, text_at
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_TURNS = frozenset({"thread.started", "thread.resumed", "turn.started", "turn.completed", "turn.failed"})
_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_ENOUGH = 0.5


def _confidence(sample: Sample) -> float:
    marked = sample.share(_is_marked)
    return 0.5 + 0.45 * marked if marked >= _ENOUGH else 0.0


def _is_marked(record: JsonObject) -> bool:
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
        return self._of(str(value.get("type", "no type")), value, place)

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
