"""Reader for the output of `codex exec --json`.

It consists of `thread.started`, `turn.*`, and `item.*` events as items begin, change and end. Until September 2025 it
held the settings, the prompt, and events as `{id, msg}`. Today it does not hold the prompt.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.codex.events import ThreadItemReading
from nous.transcript.parsing.codex.session import EVENT
from nous.transcript.parsing.values import as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_TURNS = frozenset({"thread.started", "thread.resumed", "turn.started", "turn.completed", "turn.failed"})
_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_SETTINGS = frozenset({"model", "workdir", "provider", "approval", "sandbox"})
_ENOUGH = 0.5


class CodexExec:
    """Reads the output of a run without a user at the keyboard."""

    format = "codex_exec"

    def sniff(self, sample: Sample) -> float:
        if not sample.records:
            return 0.0
        marked = sum(map(_is_marked, sample.records)) / len(sample.records)
        return 0.5 + 0.45 * marked if marked >= _ENOUGH else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Run(notes)


READER = CodexExec()


def _is_marked(record: Mapping[str, Any]) -> bool:
    if "msg" in record:
        return "id" in record and isinstance(as_object(record["msg"]).get("type"), str)
    kind = str(record.get("type"))
    return kind in _TURNS or (kind in _ITEMS and isinstance(record.get("item"), dict))


@dataclass(slots=True)
class _Run(ThreadItemReading):
    """The events of a run, in which the user is never asked for approval."""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        self.about.is_asked = False
        time = parse_time(value.get("timestamp"))
        place = RecordPlace(f"line-{record.line}-{record.offset}", record.line, record.offset, time)
        if "msg" in value:
            return self._legacy(as_object(value["msg"]), place)
        if "type" not in value:
            return self._introduction(value, place)
        return self._of(str(value["type"]), value, place)

    def _of(self, kind: str, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        item = as_object(value.get("item"))
        match kind:
            case "item.completed":
                return self.of_item(item, place)
            case "item.started":
                return self.begins(item, place)
            case "item.updated":
                self.notes.skip("item under way")
            case "thread.started" | "thread.resumed":
                self.notes.learn(session_id=as_text(value.get("thread_id")))
                self.copies.forget()
                self.observed.clear()
            case "turn.completed" | "error":
                return self.of_event(value, place)
            case "turn.failed":
                return self.once(_failure(value, place), kind)
            case _:
                self.notes.skip(kind)
        return ()

    def _legacy(self, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        if event.get("type") == "session_configured":
            self.notes.learn(session_id=as_text(event.get("session_id")), model=as_text(event.get("model")))
            return ()
        return self.of_event(event, place)

    def _introduction(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return the prompt of the run, or learn its settings."""
        if "prompt" in value:
            return self.user([as_text(value["prompt"])], EVENT, place)
        if _SETTINGS & value.keys():
            self.notes.learn(model=as_text(value.get("model")), cwd=as_text(value.get("workdir")))
        else:
            self.notes.skip("no type")
        return ()


def _failure(value: Mapping[str, Any], place: RecordPlace) -> Draft:
    why = as_text(as_object(value.get("error")).get("message"))
    return place.draft(Kind.ERROR, why or "no reason given", is_error=True)
