"""Parse LangChain messages (a list, a prompt, or a LangGraph state) into entries.

Reads the output of `messages_to_dict` and `dumpd`, and plain messages. The chunks of a streamed answer become one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, Parts, RequestedCall, calls_in, own_name
from nous.transcript.parsing.fields import JsonObject, object_at, text_at
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_MOST = 0.5
_KINDS = frozenset({"human", "ai", "system", "tool", "function", "chat", "remove"})
_ONLY_HERE = frozenset({"additional_kwargs", "response_metadata"})
_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}
_REJECTED = "User rejected the tool call for"
_REASON = re.compile(r" with reason: (?P<reason>.+)", re.DOTALL)


class Message(NamedTuple):
    """A message; `is_piece`: a chunk of an answer, `is_marked`: in a form only of LangChain."""

    kind: str
    fields: JsonObject
    is_piece: bool
    is_marked: bool


def message(value: JsonObject) -> Message | None:
    """Parse a message of `messages_to_dict`, of `dumpd` or of a plain dump; None if it is none."""
    name, fields, is_marked = text_at(value, "type"), value, not _ONLY_HERE.isdisjoint(value)
    if isinstance(value.get("kwargs"), dict) and "lc" in value:
        name, fields, is_marked = str((as_list(value.get("id")) or [""])[-1]), as_object(value["kwargs"]), True
    elif isinstance(value.get("data"), dict):
        fields = as_object(value["data"])
        is_marked = "content" in fields
    elif "content" not in value:
        return None
    whole = name.removesuffix("Chunk")
    kind = whole.removesuffix("Message").lower()
    is_marked = is_marked or (fields is value and name in {"human", "ai"})
    return Message(kind, fields, whole != name, is_marked) if kind in _KINDS else None


def held(value: JsonObject) -> list[JsonObject] | None:
    """Return the messages of a prompt or of a graph state; None if *value* lists none."""
    for holder in (value, object_at(value, "kwargs"), object_at(value, "values")):
        if isinstance(holder.get("messages"), list):
            listed = (found if isinstance(found, list) else [found] for found in as_list(holder["messages"]))
            return [as_object(found) for found in chain.from_iterable(map(as_list, listed))]
    return None


def _confidence(sample: Sample) -> float:
    values = [value for record in sample.records for value in (held(record) or [record])]
    found = [known for value in values if (known := message(value))]
    share = len(found) / len(values) if values else 0.0
    return 0.95 * share if share >= _MOST and any(known.is_marked for known in found) else 0.0


@dataclass(slots=True)
class _Conversation(ChatReading):
    """The messages; `pieces` are the chunks of the answer that still grows at `growing`."""

    growing: RecordPlace | None = None
    pieces: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def entries(self, record: Record) -> Iterator[Draft]:
        inside = held(record.value)
        if inside is not None:
            self.notes.learn(session_id=own_name({} if "lc" in record.value else record.value))
        for found in [record.value] if inside is None else inside:
            known = message(found)
            if known is None:
                self.notes.skip("not a message")
            else:
                yield from self._message(known, record)

    def conclude(self) -> Iterable[Draft]:
        yield from self._grown()
        yield from ChatReading.conclude(self)  # a class with slots has no super()

    def _message(self, known: Message, record: Record) -> Iterator[Draft]:
        own = text_at(known.fields, "id")
        if not (known.is_piece and self.pieces and text_at(self.pieces[0], "id") == own):
            yield from self._grown()
        if own in self.seen and not known.is_piece:
            self.notes.skip("repeated message")
            return
        if own:
            self.seen.add(own)
        about = object_at(known.fields, "response_metadata")
        place = self.place(record, about, own=own)
        if known.kind != "ai":
            yield from self._of(known.kind, known.fields, place)
            return
        self.notes.learn(model=text_at(about, "model_name", "model"))
        self.growing = self.growing or place
        self.pieces.append(dict(known.fields))
        if not known.is_piece or known.fields.get("chunk_position") == "last":
            yield from self._grown()

    def _grown(self) -> Iterator[Draft]:
        if self.growing:
            yield from self.answered(self._joined(self.pieces), self.growing)
            self.growing, self.pieces = None, []

    def _joined(self, pieces: list[dict[str, Any]]) -> Parts:
        contents = [piece.get("content") for piece in pieces]
        answer = self.parts([part for found in contents for part in (as_list(found) or [found])])
        extras = [object_at(piece, "additional_kwargs") for piece in pieces]
        answer.thoughts = answer.thoughts or [text_at(extra, "reasoning_content") for extra in extras]
        if len(pieces) > 1:
            answer.texts, answer.thoughts = ["".join(answer.texts)], ["".join(answer.thoughts)]
        requested = [call for message in (*pieces, *extras) for call in calls_in(message)]
        answer.calls = _streamed_calls(pieces) or requested or answer.calls
        return answer

    def _of(self, kind: str, fields: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        named = text_at(fields, "role").lower() if kind == "chat" else kind
        role = _ROLES.get(named, "system")
        if kind == "remove":
            return self.skip(kind)
        found = self.parts(fields.get("content"))
        if kind == "human" and object_at(fields, "additional_kwargs").get("lc_source") == "summarization":
            return self.text_or_skip(Kind.SUMMARY, found.text, place)
        tool = text_at(fields, "name")
        own = text_at(fields, "tool_call_id") or tool
        if kind in {"tool", "function"}:
            role = kind
            found.texts = [found.text or as_shown(fields.get("content"))]
            if found.text.startswith(_REJECTED):
                given = _REASON.search(found.text)
                return (self.result(given["reason"] if given else "", own, place, is_rejected=True, tool=tool),)
        return self.of_role(role, found, place, call_id=own, tool=tool, is_error=fields.get("status") == "error")


def _streamed_calls(pieces: list[dict[str, Any]]) -> list[RequestedCall]:
    """Return the calls whose arguments came as fragments; only the first one has an id."""
    calls: list[list[JsonObject]] = []
    for part in (as_object(part) for piece in pieces for part in as_list(piece.get("tool_call_chunks"))):
        begun = [call for call in calls if call[0].get("index") == part.get("index")]
        if part.get("id") or not begun:
            calls.append([part])
        else:
            begun[-1].append(part)
    joined = [["".join(text_at(part, key) for part in call) for key in ("id", "name", "args")] for call in calls]
    return [RequestedCall(own or tool, tool, as_arguments(given)) for own, tool, given in joined]


READER = FormatReader("langchain", _confidence, _Conversation)
