"""Reader for LangChain messages, in a list or in the state of a graph.

Reads the output of `messages_to_dict` and `dumpd`, and plain messages. The chunks of a streamed answer become one. Text
that the libraries write in a person's place is recognized by its marks.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.langchain import JsonObject, Message, StreamedAnswer, held, message, parts
from nous.transcript.parsing.plain_chat import another_session, own_name, reports_failure
from nous.transcript.parsing.values import as_count, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_SURE = 0.95
_MOST = 0.5
_ROLES = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai"}
_REJECTED = "User rejected the tool call for"
_REASON = re.compile(r" with reason: (?P<reason>.+)", re.DOTALL)


class LangChain:
    """Reads conversations kept by LangChain and LangGraph."""

    format = "langchain"

    def sniff(self, sample: Sample) -> float:
        values = [value for record in sample.records for value in (held(record) or [record])]
        found = [known for value in values if (known := message(value))]
        share = len(found) / len(values) if values else 0.0
        return _SURE * share if share >= _MOST and any(known.is_marked for known in found) else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Conversation(notes)


READER = LangChain()


@dataclass(slots=True)
class _Conversation(AgentReading):
    """The messages of a conversation.

    `seen` are the ids of messages so far. `growing` is the answer whose chunks are still arriving.
    """

    messages: int = 0
    sessions: int = 0
    seen: set[str] = field(default_factory=set[str])
    growing: StreamedAnswer | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        inside = held(value)
        if inside is not None:
            yield from self._begin(value, inside, record)
        for found in [value] if inside is None else inside:
            known = message(found)
            if known is None:
                self.notes.skip("not a message")
            else:
                yield from self._message(known, record)

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return self._grown()

    def _begin(self, value: JsonObject, inside: list[JsonObject], record: Record) -> Iterator[Draft]:
        """Start another list of messages: another session, unless it repeats known messages."""
        self.sessions += 1
        own = own_name({} if "lc" in value else value)
        self.notes.learn(session_id=own)
        again = any(as_text(known.fields.get("id")) in self.seen for found in inside if (known := message(found)))
        if self.sessions > 1 and not again:
            yield from self._grown()
            yield self._place(record).draft(Kind.SYSTEM, another_session(own))

    def _message(self, known: Message, record: Record) -> Iterator[Draft]:
        own = as_text(known.fields.get("id"))
        is_next = known.is_piece and self.growing is not None and self.growing.own == own
        if not is_next:
            yield from self._grown()
        if own in self.seen and not known.is_piece:
            self.notes.skip("repeated message")
            return
        if own:
            self.seen.add(own)
        place = self._place(record, known.fields)
        if known.kind == "ai":
            yield from self._answered(known, own, place)
        else:
            yield from self._of(known.kind, known.fields, place)

    def _answered(self, known: Message, own: str, place: RecordPlace) -> Iterable[Draft]:
        self._account(known.fields)
        if self.growing is None:
            self.growing = StreamedAnswer(place, own)
        self.growing.add(known.fields, between="" if known.is_piece else "\n\n")
        is_last = not known.is_piece or known.fields.get("chunk_position") == "last"
        return self._grown() if is_last else ()

    def _grown(self) -> Iterator[Draft]:
        """Yield the drafts of the growing answer, which is complete now."""
        answer, self.growing = self.growing, None
        if answer is None:
            return
        for reason in answer.passed:
            self.notes.skip(reason)
        place = answer.place
        if thoughts := "".join(answer.thoughts).strip():
            yield place.draft(Kind.THINKING, thoughts, len(answer.calls) + 1)
        if text := "".join(answer.texts).strip():
            yield place.draft(Kind.ASSISTANT, text)
        for part, call in enumerate(answer.calls, 1):
            yield self.call(call.tool, call.arguments, call.id, place, part)

    def _of(self, kind: str, fields: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = parts(fields.get("content"))
        for reason in content.passed:
            self.notes.skip(reason)
        text = "\n\n".join(content.texts)
        match kind:
            case "human" if _is_summary(fields):
                return (place.draft(Kind.SUMMARY, text),)
            case "human":
                return self.said([text], place)
            case "tool" | "function":
                return (self._came(text or as_shown(fields.get("content")), fields, place),)
            case "chat":
                return self._in_role(fields, text, place)
            case "system" if text.strip():
                return (place.draft(Kind.SYSTEM, text.strip()),)
            case _:
                self.notes.skip("empty message" if kind == "system" else kind)
                return ()

    def _in_role(self, fields: JsonObject, text: str, place: RecordPlace) -> Iterable[Draft]:
        kind = _ROLES.get(as_text(fields.get("role")).lower(), "system")
        if kind == "ai":
            return (place.draft(Kind.ASSISTANT, text.strip()),)
        return self._of(kind, fields, place)

    def _came(self, text: str, fields: JsonObject, place: RecordPlace) -> Draft:
        tool = as_text(fields.get("name"))
        own = as_text(fields.get("tool_call_id")) or tool
        if text.startswith(_REJECTED):
            given = _REASON.search(text)
            return self.result(given["reason"] if given else "", own, place, is_rejected=True, tool=tool)
        failed = fields.get("status") == "error" or reports_failure(text)
        return self.result(text, own, place, is_error=failed, tool=tool)

    def _account(self, fields: JsonObject) -> None:
        about, usage = as_object(fields.get("response_metadata")), as_object(fields.get("usage_metadata"))
        self.notes.learn(model=as_text(about.get("model_name")) or as_text(about.get("model")))
        self.input_tokens += as_count(usage.get("input_tokens"))
        self.output_tokens += as_count(usage.get("output_tokens"))

    def _place(self, record: Record, fields: JsonObject | None = None) -> RecordPlace:
        self.messages += 1
        given = fields or {}
        own = as_text(given.get("id")) or f"message-{self.messages}"
        time = parse_time(as_object(given.get("response_metadata")).get("created_at"))
        return RecordPlace(own, record.line, record.offset, time)


def _is_summary(fields: JsonObject) -> bool:
    return as_object(fields.get("additional_kwargs")).get("lc_source") == "summarization"
