"""Parse Gemini CLI sessions (one JSON document, or JSON lines after a header) into entries.

Up to 0.39 it is one document with `messages`, later JSON lines after a header. A message is written again, under its
id, each time its calls return, so each message and call is emitted once, at its first place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.gemini import CANCELLED, GeminiPartReading, others_in, parts_in, responses_in, texts_in
from nous.transcript.parsing.values import as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_KINDS = frozenset({"user", "gemini", "info", "warning", "error"})
_ROLES = frozenset({"user", "model", "gemini"})
_ABOUT = frozenset({"projectHash", "startTime", "start_time", "lastUpdated"})
_PATCHES = frozenset({"$set", "$rewindTo"})
_ENOUGH = 0.5
_KEPT_NOTICES = ("Request cancelled", "Chat history compressed", "User cancelled")
_ENDED = frozenset({"success", "error", CANCELLED})


def _confidence(sample: Sample) -> float:
    marked = sample.share(_is_marked)
    return 0.95 * marked if marked >= _ENOUGH else 0.7 if sample.share(_is_bare) >= _ENOUGH else 0.0


def _is_marked(record: JsonObject) -> bool:
    """Return whether *record* is a document, header, patch or message of Gemini CLI only."""
    if ("sessionId" in record and "projectHash" in record) or not _PATCHES.isdisjoint(record):
        return True
    held = objects_at(record, "messages") if "sessionId" in record else []
    return any(map(_is_message, [record, *held]))


def _is_message(value: JsonObject) -> bool:
    own = "id" in value and "timestamp" in value and "content" in value
    return own and text_at(value, "type") in _KINDS and "uuid" not in value


def _is_bare(record: JsonObject) -> bool:
    held = objects_at(record, "history") or [record]
    return any(isinstance(message.get("parts"), list) and text_at(message, "role") in _ROLES for message in held)


@dataclass(slots=True)
class _Session(GeminiPartReading):
    """The messages of a session; `seen` are the ids of emitted thoughts and messages."""

    messages: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if "$rewindTo" in value:
            place = RecordPlace(f"line-{record.line}-{record.offset}", record.line, record.offset)
            return (place.draft(Kind.SYSTEM, "Rewound to an earlier point"),)
        if "$set" in value:
            self._introduce(as_object(value["$set"]))
            return self.skip("$set")
        if isinstance(value.get("messages", value.get("history")), list):
            return self._document(value, record)
        if "type" in value or "role" in value:
            return self._message(value, record)
        if _ABOUT.isdisjoint(value):
            self.notes.skip("not a message")
        self._introduce(value)
        return ()

    def _introduce(self, value: JsonObject) -> None:
        folder = next(iter(as_list(value.get("directories"))), None)
        self.notes.learn(session_id=text_at(value, "sessionId"), cwd=as_text(folder))
        self.title = text_at(value, "summary") or self.title
        self.is_sub_agents = self.is_sub_agents or value.get("kind") == "subagent"

    def _document(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        self._introduce(value)
        for message in objects_at(value, "messages" if "messages" in value else "history"):
            yield from self._message(message, record)
        self.notes.learn(model=text_at(object_at(value, "meta"), "model"))

    def _message(self, message: JsonObject, record: Record) -> Iterable[Draft]:
        self.messages += 1
        own = text_at(message, "id") or f"message-{self.messages}"
        time = parse_time(message.get("timestamp", message.get("ts")))
        place = RecordPlace(own, record.line, record.offset, time)
        match kind := text_at(message, "type", "role") or "no type":
            case "user":
                return self._user(message, place)
            case "gemini" | "model":
                return self._model(message, place)
            case "info" | "warning" | "error":
                return () if self.is_repeated(own, "repeated message") else self._notice(kind, message, place)
            case _:
                return self.skip(kind)

    def _user(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        content = message.get("content", message.get("parts"))
        for number, response in enumerate(responses_in(content)):
            yield from self.of_response(response, place, number)
        texts = texts_in(message.get("displayContent")) or texts_in(content)
        self.notes.skipped.update(others_in(content) if place.id not in self.seen else ())
        if texts and not self.is_repeated(place.id, "repeated message"):
            yield from self.of_prompt(texts, place)

    def _model(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        calls = objects_at(message, "toolCalls")
        content = message.get("content", message.get("parts"))
        self.notes.learn(model=text_at(message, "model"))
        yield from self._thoughts(message, place)
        is_empty = place.id not in self.seen and parts_in(content) in ([], [{"text": ""}])
        if not is_empty and not self.is_repeated(place.id, "repeated message"):
            yield from self.of_model(content, place, has_calls=bool(calls))
        for number, call in enumerate(calls):
            yield from self._called(call, place, number)

    def _thoughts(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        for number, thought in enumerate(objects_at(message, "thoughts")):
            said = (text_at(thought, key).strip() for key in ("subject", "description"))
            own, text = f"{place.id}/thoughts/{number}", "\n\n".join(filter(None, said))
            if text and own not in self.seen:
                self.seen.add(own)
                yield place._replace(id=f"{place.id}/thoughts").draft(Kind.THINKING, text, number)

    def _called(self, call: JsonObject, place: RecordPlace, number: int) -> Iterator[Draft]:
        """Yield a call and its result; when repeated, only the result that was missing before."""
        own = text_at(call, "id") or f"{place.id}/call/{number}"
        place = place._replace(time=parse_time(call.get("timestamp")) or place.time)
        if own not in self.asked:
            yield from self.of_call({**call, "id": own}, place, number)
        status = text_at(call, "status")
        if own not in self.answered and (status in _ENDED or call.get("result")):
            response = {**call, "id": own, "response": _response(call, own)}
            yield from self.of_response(response, place, number, status=status)

    def _notice(self, kind: str, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        text = "\n\n".join(texts_in(message.get("content"))).strip()
        is_kept = kind != "info" or text.startswith(_KEPT_NOTICES)
        return self.text_or_skip(Kind.ERROR if kind == "error" else Kind.SYSTEM, text if is_kept else "", place, kind)


READER = FormatReader("gemini", _confidence, _Session)


def _response(call: JsonObject, own: str) -> object:
    """Return the response to the call *own*, or to a neighbour, or else what was displayed."""
    responses = responses_in(call.get("result"))
    found = next((response for response in responses if response.get("id") == own), next(iter(responses), {}))
    texts = "\n\n".join(texts_in(call.get("result")))
    return found.get("response") or {"output": texts or as_shown(call.get("resultDisplay"))}
