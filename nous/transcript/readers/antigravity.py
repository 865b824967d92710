"""Parse Antigravity transcripts (conversation steps as JSON lines) into transcript entries.

The file is `brain/<id>/.system_generated/logs/transcript.jsonl`. Nothing links a result to its call: results follow in
the order of the calls. The user's text stands in `<USER_REQUEST>`, among insertions of the editor.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import SessionReading, digest_of
from nous.transcript.parsing.values import as_shown, parse_time, parsed
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_MARKS = ("step_index", "source", "type", "status")
_NOT_TYPED = frozenset({"SYSTEM", "MODEL", "USER_IMPLICIT"})
_CANCELLED = frozenset({"CANCELED", "CANCELLED", "REJECTED"})
_SETTINGS, _MODEL = "<USER_SETTINGS_CHANGE>", "setting `Model Selection` from "
_REQUEST, _REQUEST_ENDS = "<USER_REQUEST>", "</USER_REQUEST>"
_INSERTED = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE")
_BOOKKEEPING = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n)+")
_DENIED = re.compile(r"user denied permission", re.IGNORECASE)
_FAILED = re.compile(r"(?:exited with code|failed with exit code|exit code):? -?[1-9]", re.IGNORECASE)
_HEAD = 300


def _confidence(sample: Sample) -> float:
    return 0.97 * sample.share(lambda record: all(mark in record for mark in _MARKS))


@dataclass(slots=True)
class _Conversation(SessionReading):
    """The steps of a conversation; `waiting` are the calls without a result, in order."""

    waiting: deque[str] = field(default_factory=deque[str])

    def entries(self, record: Record) -> Iterable[Draft]:
        step = record.value
        kind, text = text_at(step, "type") or "no type", as_shown(step.get("content")).strip()
        number = step.get("step_index")
        own = f"step-{number}" if isinstance(number, int) else f"line-{record.line}-{record.offset}"
        calls = (text_at(asked, "name") for asked in objects_at(step, "tool_calls"))
        if self.is_repeated(f"{own} {digest_of(kind, text, text_at(step, 'thinking'), *calls)}", "repeated step"):
            return ()
        place = RecordPlace(own, record.line, record.offset, parse_time(step.get("created_at")))
        match kind:
            case "USER_INPUT":
                return self._user(step, text, place)
            case "PLANNER_RESPONSE":
                return self._planned(step, text, place)
            case "ERROR_MESSAGE" if self.waiting:  # it may be the only result of a call
                return (self._result(kind, "ERROR", text, place),)
            case "ERROR_MESSAGE":
                return (place.draft(Kind.ERROR, text or "an error", is_error=True),)
            case _ if not text:
                return self.skip(kind)
            case "CHECKPOINT":
                return (place.draft(Kind.SUMMARY, text),)
            case _ if step.get("source") == "SYSTEM":
                return (place.draft(Kind.SYSTEM, text, is_meta=True),)
            case _:
                return (self._result(kind, text_at(step, "status"), text, place),)

    def _user(self, step: JsonObject, text: str, place: RecordPlace) -> Iterable[Draft]:
        self._forget()
        model = text.partition(_SETTINGS)[2].partition(_MODEL)[2].partition("\n")[0].partition(" to ")[2]
        self.notes.learn(model=model.partition(". ")[0].removesuffix("."))
        if text_at(step, "source") in _NOT_TYPED:
            return (place.draft(Kind.SYSTEM, text, is_meta=True),)
        return self.said([_request(text)], place)

    def _planned(self, step: JsonObject, text: str, place: RecordPlace) -> Iterator[Draft]:
        if thought := text_at(step, "thinking").strip():
            yield place._replace(id=f"{place.id}/thinking").draft(Kind.THINKING, thought)
        if text:
            yield place.draft(Kind.ASSISTANT, text)
        self._forget()
        for number, asked in enumerate(objects_at(step, "tool_calls"), 1):
            own = f"{place.id}/{number}"
            self.waiting.append(own)
            given = {name: _decoded(value) for name, value in object_at(asked, "args").items()}
            yield self.call(text_at(asked, "name").removeprefix("default_api:"), given, own, place, number)

    def _forget(self) -> None:
        """Drop the open calls: a new turn or answer ends them, with or without a result."""
        for own in self.waiting:
            self.calls.pop(own, None)
        self.waiting.clear()

    def _result(self, kind: str, status: str, text: str, place: RecordPlace) -> Draft:
        text = _BOOKKEEPING.sub("", text, count=1).strip()
        own = self.waiting.popleft() if self.waiting else ""
        is_command = kind == "RUN_COMMAND" or self.made(own).tool == "run_command"
        is_error = status == "ERROR" or (is_command and _FAILED.search(text[:_HEAD]) is not None)
        is_rejected = status in _CANCELLED
        if is_error and _DENIED.search(text[:_HEAD]):
            is_error, is_rejected, text = False, True, ""
        return self.result(text, own, place, is_error=is_error, is_rejected=is_rejected, tool=kind.lower())


READER = FormatReader("antigravity", _confidence, _Conversation)


def _request(text: str) -> str:
    if _REQUEST not in text:
        for name in _INSERTED:
            text = text.partition(f"<{name}>")[0]
        return text.strip()
    rest = text.partition(_REQUEST)[2]
    return (rest.rpartition(_REQUEST_ENDS)[0] if _REQUEST_ENDS in rest else rest).strip()


def _decoded(value: object) -> object:
    """Decode an argument: most transcripts keep strings as JSON, with the quotes."""
    if isinstance(value, str) and value.startswith('"') and value.endswith('"'):
        decoded = parsed(value)
        return value if decoded is None else decoded
    return value
