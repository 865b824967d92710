"""Parse OpenAI Responses API items, requests and answers into entries, each item once.

A request mostly repeats the conversation so far, and an answer comes back as input. Each item is emitted once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import reports_failure, text_of
from nous.transcript.parsing.codex.contents import Output
from nous.transcript.parsing.codex.conversation import CodexReading, requested
from nous.transcript.parsing.fields import JsonObject, marks, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import call, digest_of
from nous.transcript.parsing.values import as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_ROLES = frozenset({"user", "assistant", "system", "developer"})
_NO_CALLS = frozenset(marks("openai_responses", "no_calls"))
_MOST = 0.5
_OF_REQUESTS = frozenset({"instructions", "previous_response_id", "model"})
_NO_ID = "__fake_id__"
"""The id that the Agents SDK gives to every item of a provider without ids."""


def _confidence(sample: Sample) -> float:
    bodies = sample.share(_is_body)
    share = sample.share(_is_item) + bodies
    if share < _MOST or not (bodies or any(map(_is_sure, sample.records))):
        return 0.0
    return 0.95 * share


def _is_item(value: JsonObject) -> bool:
    kind = value.get("type")
    if kind is None or kind == "message":
        return str(value.get("role")) in _ROLES and "content" in value
    return isinstance(kind, str) and (_is_sure(value) or kind in _NO_CALLS)


def _is_sure(value: JsonObject) -> bool:
    """Return whether *value* is an item in a form that no other format has."""
    kind = text_at(value, "type")
    if kind in {"", "message"}:
        parts = {str(as_object(part).get("type")) for part in as_list(value.get("content"))}
        return str(value.get("role")) in _ROLES and bool(parts & {"input_text", "output_text"})
    if kind.endswith("_call_output"):
        return "output" in value
    return kind.endswith("_call") and kind != "tool_call" and ("call_id" in value or "id" in value)


def _is_body(record: JsonObject) -> bool:
    """Return whether *record* is a request, an answer, or both; not any list named `input`."""
    if "type" in record or "role" in record:
        return False
    items = [as_object(item) for key in ("input", "output") for item in as_list(record.get(key))]
    is_marked = any(map(_is_sure, items)) or bool(_OF_REQUESTS & record.keys())
    is_request = isinstance(record.get("input"), str) and "model" in record
    return is_request or record.get("object") == "response" or (is_marked and bool(items) and all(map(_is_item, items)))


def _id_of(item: JsonObject) -> str:
    return text_at(item, "id").replace(_NO_ID, "")


def fingerprint(item: JsonObject) -> str:
    """Return a digest that repetitions of an item share; empty for reasoning."""
    kind = text_at(item, "type") or "message"
    if kind == "reasoning":
        return ""
    if kind == "message":
        return digest_of(str(item.get("role")), text_of(item.get("content")))
    return digest_of(kind, text_at(item, "call_id", "id"), str(item.get("arguments")))


@dataclass(slots=True)
class _Session(CodexReading):
    """The items; `emitted` counts them by fingerprint, `instructions` are the last ones."""

    items: int = 0
    emitted: dict[str, int] = field(default_factory=dict[str, int])
    instructions: str = ""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if _is_body(value):
            return self._body(value, record)
        if not _is_item(value) and "type" not in value:
            return self.skip("not an item")
        return self._item(value, record)

    def came(self, output: Output, call_id: str, place: RecordPlace, part: int = 0, *, tool: str = "") -> Draft:
        failed = output.is_error or reports_failure(output.text)
        return CodexReading.came(self, output._replace(is_error=failed), call_id, place, part, tool=tool)

    def _body(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        own = text_at(value, "id")
        if own and self.is_repeated(own, "repeated response"):
            return
        conversation = value.get("conversation")
        session = text_at(as_object(conversation), "id") or as_text(conversation)
        self.notes.learn(model=text_at(value, "model"), session_id=session or text_at(value, "session_id"))
        yield from self._asked(value, record)
        for found in objects_at(value, "output"):
            yield from self._item({"created_at": value.get("created_at"), **found}, record)
        place = self._place(value, record)
        if error := object_at(value, "error"):
            said = text_at(error, "message", "code")
            yield place.draft(Kind.ERROR, said or "The answer failed", is_error=True)
        if reason := text_at(object_at(value, "incomplete_details"), "reason"):
            yield place.draft(Kind.SYSTEM, f"The answer is incomplete: {reason}", 1)

    def _asked(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        instructions = text_of(value.get("instructions")).strip()
        if instructions and instructions != self.instructions:
            self.instructions = instructions
            yield self._place({}, record).draft(Kind.SYSTEM, instructions)
        given = value.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else objects_at(value, "input")
        is_continued = value.get("previous_response_id") or value.get("conversation")
        known = {} if is_continued else dict(self.emitted)
        for item in items:
            mark = fingerprint(item)
            if known.get(mark, 0):
                known[mark] -= 1
                self.notes.skip("repeated item")
            else:
                yield from self._item(item, record)

    def _item(self, item: JsonObject, record: Record) -> Iterator[Draft]:
        kind, own = text_at(item, "type") or "message", _id_of(item)
        if own and self.is_repeated(f"{kind} {own}", "repeated item"):
            return
        if mark := fingerprint(item):
            self.emitted[mark] = self.emitted.get(mark, 0) + 1
        place = self._place(item, record)
        if kind == "message" and text_at(item, "role") in {"system", "developer"}:
            yield from self.text_or_skip(Kind.SYSTEM, text_of(item.get("content")), place)
        elif kind == "mcp_approval_request":
            self.calls[own] = call(*requested(kind, item))
        elif kind == "mcp_approval_response":
            asked = text_at(item, "approval_request_id")
            is_yes = item.get("approve") is True
            yield self.verdict("" if is_yes else text_at(item, "reason"), asked, place, is_yes=is_yes)
        else:
            yield from self.of_response(item, place)

    def _place(self, item: JsonObject, record: Record) -> RecordPlace:
        self.items += 1
        own = _id_of(item) or f"message-{self.items}"
        return RecordPlace(own, record.line, record.offset, parse_time(item.get("created_at")))


READER = FormatReader("openai_responses", _confidence, _Session)
