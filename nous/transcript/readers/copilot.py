"""Reader for Copilot CLI transcripts: `events.jsonl`.

Each line is `{type, data, id, timestamp, parentId}`. A call appears in the answer that requests it and again when it
begins. Events inside of a sub-agent name the call that started it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.copilot import CallReading, CopilotSessionInfo, event_draft
from nous.transcript.parsing.values import as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_FAMILIES = frozenset(
    {
        *("session", "user", "assistant", "tool", "system", "subagent", "hook", "permission", "skill"),
        *("user_input", "elicitation", "exit_plan_mode", "external_tool", "command"),
    }
)
_PRODUCER = "copilot-agent"
_NOT_TYPED = ("system", "skill", "schedule", "agent", "autopilot", "hook", "jit")
_MARKS_OF_PROGRAMS = ("isAutopilotContinuation", "inputOrigin")
_INSIDE = frozenset({"user.message", "assistant.message", "assistant.reasoning", "abort"})

JsonObject = Mapping[str, Any]


class Copilot:
    """Reads files of Copilot CLI versions that keep sessions as events."""

    format = "copilot"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        is_sure = any(as_object(record.get("data")).get("producer") == _PRODUCER for record in sample.records)
        return (0.95 if is_sure else 0.8) * marked / len(sample.records) if marked else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Copilot()


def _is_marked(record: JsonObject) -> bool:
    kind = as_text(record.get("type"))
    family, dot, _ = kind.partition(".")
    is_event = (dot and family in _FAMILIES) or kind == "abort"
    return bool(is_event) and isinstance(record.get("data"), dict) and ("id" in record or "timestamp" in record)


@dataclass(slots=True)
class _Session(CallReading):
    """The events of a session.

    `thought` is the last thought of the model, `answer` its last text, `prompt` the digest of the system prompt.
    """

    about: CopilotSessionInfo = field(default_factory=CopilotSessionInfo)
    thought: str = ""
    answer: str = ""
    prompt: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        kind, data = str(value.get("type", "no type")), as_object(value.get("data"))
        own = as_text(value.get("id")) or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        inside = as_text(data.get("parentToolCallId")) or as_text(value.get("agentId"))
        is_inside = bool(inside) and (kind in _INSIDE or kind.startswith("tool."))
        for draft in self._of(kind, data, place, is_inside=is_inside):
            if is_inside and draft.kind is not Kind.DECISION:
                draft.agent = inside
            yield draft

    def conclude(self) -> Iterable[Draft]:
        self.about.conclude(self.notes)
        return ()

    def _of(self, kind: str, data: JsonObject, place: RecordPlace, *, is_inside: bool) -> Iterable[Draft]:
        match kind:
            case "user.message":
                return self._prompted(data, place)
            case "assistant.message":
                return self._answered(data, place, is_inside=is_inside)
            case "assistant.reasoning":
                return self._thought(as_text(data.get("content")), place)
            case "tool.execution_start":
                return self.started(data, place)
            case "tool.execution_complete":
                return self.returned(data, place)
            case "tool.user_requested":
                return self.typed_call(data, place)
            case "permission.completed":
                return self.permitted(data, place)
            case "exit_plan_mode.completed":
                return self.planned(data, place)
            case "system.message":
                return self._instructed(data, place)
            case "session.compaction_complete":
                return self._compacted(data, place)
            case "session.task_complete":
                return self._completed(data, place)
            case _:
                return self._other(kind, data, place)

    def _prompted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's prompt, or system text if a program wrote it.

        The text that the model was given instead is skipped.
        """
        text, source = as_text(data.get("content")), as_text(data.get("source"))
        for attached in map(as_object, as_list(data.get("attachments"))):
            self.notes.skip(f"attached {attached.get('type')}")
        is_meta = source.startswith(_NOT_TYPED) or any(data.get(mark) for mark in _MARKS_OF_PROGRAMS)
        if is_meta and text.strip():
            return (place.draft(Kind.SYSTEM, text.strip(), is_meta=True),)
        return self.said([text], place)

    def _answered(self, data: JsonObject, place: RecordPlace, *, is_inside: bool) -> Iterator[Draft]:
        own = as_text(data.get("messageId")) or place.id
        if not is_inside:
            self.about.charge(own, data, self.notes)
        yield from self._thought(as_text(data.get("reasoningText")), place)
        if text := as_text(data.get("content")).strip():
            self.answer = text
            yield place._replace(id=own).draft(Kind.ASSISTANT, text)
        yield from self.requested(data.get("toolRequests"), place)

    def _thought(self, text: str, place: RecordPlace) -> Iterable[Draft]:
        """Return a thought of the model; skip its copy, since it also comes with the answer."""
        if not text.strip():
            return ()
        if text == self.thought:
            self.notes.skip("repeated reasoning")
            return ()
        self.thought = text
        return (place._replace(id=f"{place.id}/thought").draft(Kind.THINKING, text.strip()),)

    def _instructed(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the system prompt; skip its copies, since each resume of a session repeats it."""
        text = as_text(data.get("content")).strip()
        digest = sha256(text.encode(errors="replace")).hexdigest()
        if not text or digest == self.prompt:
            self.notes.skip("repeated system.message" if text else "empty system.message")
            return ()
        self.prompt = digest
        return (place.draft(Kind.SYSTEM, text),)

    def _compacted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        if data.get("success") is False:
            why = as_text(data.get("error")).strip()
            return (place.draft(Kind.ERROR, f"Compaction failed: {why}".rstrip(": "), is_error=True),)
        if summary := as_text(data.get("summaryContent")).strip():
            return (place.draft(Kind.SUMMARY, summary),)
        return (place.draft(Kind.SYSTEM, "Conversation compacted"),)

    def _completed(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the model's report that it has completed its task."""
        summary = as_text(data.get("summary")).strip()
        if not summary or summary == self.answer or data.get("success") is False:
            self.notes.skip("session.task_complete")
            return ()
        return (place.draft(Kind.ASSISTANT, summary),)

    def _other(self, kind: str, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        self.about.learn(kind, data, self.notes)
        if kind == "permission.requested":
            self.asked_for(data)
        if draft := event_draft(kind, data, place):
            return (draft,)
        self.notes.skip(f"session.info: {data.get('infoType')}" if kind == "session.info" else kind)
        return ()
