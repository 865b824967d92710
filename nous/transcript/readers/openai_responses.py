"""Reader for the OpenAI Responses API: items, request and response bodies, and streams.

Items come as lists or lines, bodies hold them as `input` and `output`. A request mostly repeats the conversation so
far, and an answer comes back as input. Each item is emitted once.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.openai_responses import Item, ResponseItemReading, is_item, is_sure, text_in
from nous.transcript.parsing.values import as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_SURE = 0.95
_LIKE_OLD_CODEX = 0.7
_MOST = 0.5
_EVENT = "response."
_DONE = "response.output_item.done"
_OF_REQUESTS = frozenset({"instructions", "previous_response_id", "model"})
_UNFINISHED = frozenset({"in_progress", "queued"})


class OpenAIResponses:
    """Recognizes Responses by their items.

    Unlike in Chat Completions, calls and results stand beside the messages, not inside them.
    """

    format = "openai_responses"

    def sniff(self, sample: Sample) -> float:
        if not sample.records:
            return 0.0
        share = sum(map(_is_ours, sample.records)) / len(sample.records)
        if share < _MOST or not any(map(_is_marked, sample.records)):
            return 0.0
        return share * (_LIKE_OLD_CODEX if any(map(_is_codex, sample.records)) else _SURE)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = OpenAIResponses()


@dataclass(slots=True)
class _Session(ResponseItemReading):
    """The items of a conversation.

    `answers` are the ids of emitted answers. `instructions` are the last ones given.
    """

    answers: set[str] = field(default_factory=set[str])
    instructions: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = as_text(value.get("type"))
        if kind.startswith(_EVENT):
            return self._event(kind, value, record)
        if _is_body(value):
            return self._body(value, record)
        if not is_item(value) and "type" not in value:
            self.notes.skip("not an item")
            return ()
        return self.item(value, self.place(value, record))

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return ()

    def _event(self, kind: str, value: Item, record: Record) -> Iterable[Draft]:
        """Return the drafts of a stream event: complete items, and the answer that repeats them."""
        item, answer = as_object(value.get("item")), as_object(value.get("response"))
        if kind == _DONE and item:
            return self.item(item, self.place(item, record))
        if answer and answer.get("status") not in _UNFINISHED:
            return self._body(answer, record)
        self.notes.skip(kind)
        return ()

    def _body(self, value: Item, record: Record) -> Iterator[Draft]:
        own, is_answer = as_text(value.get("id")), value.get("status") not in _UNFINISHED
        if own and own in self.answers:
            self.notes.skip("repeated response")
            return
        if own and is_answer:
            self.answers.add(own)
        self._learn(value)
        yield from self._asked(value, record)
        time = parse_time(value.get("created_at"))
        for found in as_list(value.get("output")):
            item = as_object(found)
            yield from self.item(item, self.place(item, record, time))
        yield from self._ended(value, self.place({}, record, time))

    def _asked(self, value: Item, record: Record) -> Iterator[Draft]:
        """Yield the input and instructions that the model had not got before."""
        given = value.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
        is_part = bool(value.get("previous_response_id") or value.get("conversation"))
        if items and not is_part:
            items, is_another = self.new_items([as_object(item) for item in items])
            if is_another:
                yield self.place({}, record).draft(Kind.SYSTEM, "Another session begins")
        instructions = text_in(value.get("instructions")).text.strip()
        if instructions and instructions != self.instructions:
            self.instructions = instructions
            yield self.place({}, record).draft(Kind.SYSTEM, instructions)
        for found in items:
            item = as_object(found)
            yield from self.item(item, self.place(item, record))

    def _ended(self, value: Item, place: RecordPlace) -> Iterator[Draft]:
        if error := as_object(value.get("error")):
            said = as_text(error.get("message")) or as_text(error.get("code"))
            yield place.draft(Kind.ERROR, said or "The answer failed", is_error=True)
        if reason := as_text(as_object(value.get("incomplete_details")).get("reason")):
            yield place.draft(Kind.SYSTEM, f"The answer is incomplete: {reason}", 1)

    def _learn(self, value: Item) -> None:
        conversation, usage = value.get("conversation"), as_object(value.get("usage"))
        own = as_text(as_object(conversation).get("id")) or as_text(conversation)
        self.notes.learn(model=as_text(value.get("model")), session_id=own or as_text(value.get("session_id")))
        self.input_tokens += as_count(usage.get("input_tokens"))
        self.output_tokens += as_count(usage.get("output_tokens"))


def _is_ours(record: Mapping[str, Any]) -> bool:
    return is_item(record) or _is_body(record) or _is_event(record)


def _is_marked(record: Mapping[str, Any]) -> bool:
    return is_sure(record) or record.get("object") == "response" or _holds_items(record) or _is_event(record)


def _is_event(record: Mapping[str, Any]) -> bool:
    return as_text(record.get("type")).startswith(_EVENT) and ("sequence_number" in record or "response" in record)


def _is_body(record: Mapping[str, Any]) -> bool:
    """Return whether *record* is a request, an answer, or both in one."""
    if "type" in record:
        return False
    is_request = isinstance(record.get("input"), str) and "model" in record
    return is_request or record.get("object") == "response" or _holds_items(record)


def _holds_items(record: Mapping[str, Any]) -> bool:
    """Return whether *record* holds Responses items.

    A list of messages that happens to be called `input` is not enough.
    """
    items = [as_object(item) for key in ("input", "output") for item in as_list(record.get(key))]
    is_marked = any(map(is_sure, items)) or bool(_OF_REQUESTS & record.keys())
    return is_marked and bool(items) and "type" not in record and all(map(is_item, items))


def _is_codex(record: Mapping[str, Any]) -> bool:
    """Return whether *record* is from old Codex.

    It kept its items as bare lines, after a line about the session.
    """
    return "record_type" in record or ("instructions" in record and "timestamp" in record and "type" not in record)
