"""Reader for Gemini CLI sessions: a JSON document, or JSON lines patched by `$set`.

Up to 0.39 it is one document with `messages`, later JSON lines after a header. A message is written again, under its
id, each time its calls return. `$set` may repeat the whole history, after a compression with new ids. So each message
and call is emitted once, at its first place. Messages of the bare API are read too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.gemini import (
    CANCELLED,
    GeminiPartReading,
    kind_of,
    mark_of,
    others_in,
    parts_in,
    response_of,
    responses_in,
    texts_in,
)
from nous.transcript.parsing.values import as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_KINDS = frozenset({"user", "gemini", "info", "warning", "error"})
_ROLES = frozenset({"user", "model", "gemini"})
_ABOUT = frozenset({"projectHash", "startTime", "start_time", "lastUpdated"})
_PATCHES = frozenset({"$set", "$rewindTo"})
_ENOUGH = 0.5
_KEPT_NOTICES = ("Request cancelled", "Chat history compressed", "User cancelled")
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_ENDED = frozenset({"success", "error", CANCELLED})
_LONGEST_PROMPT = 200


class Gemini:
    """Reads files of Gemini CLI 0.6 to 0.6x, and of forks with the same format."""

    format = "gemini"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        bare = sum(map(_is_bare, sample.records))
        if marked and marked >= _ENOUGH * len(sample.records):
            return 0.95 * marked / len(sample.records)
        return 0.7 if bare and bare >= _ENOUGH * len(sample.records) else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Gemini()


def _is_marked(record: Mapping[str, Any]) -> bool:
    """Return whether *record* is a document, header, patch or message of Gemini CLI only."""
    if "sessionId" in record and "projectHash" in record:
        return True
    if not _PATCHES.isdisjoint(record):
        return True
    held = [as_object(message) for message in as_list(record.get("messages"))]
    return _is_message(record) or ("sessionId" in record and any(map(_is_message, held)))


def _is_message(value: Mapping[str, Any]) -> bool:
    own = "id" in value and "timestamp" in value and "content" in value
    return own and as_text(value.get("type")) in _KINDS and "uuid" not in value


def _is_bare(record: Mapping[str, Any]) -> bool:
    """Return whether *record* is a message of the API, or holds such messages."""
    held = as_list(record.get("history")) or [record]
    return any(
        isinstance(message.get("parts"), list) and as_text(message.get("role")) in _ROLES
        for message in map(as_object, held)
    )


@dataclass(slots=True)
class _Session(GeminiPartReading):
    """The messages of a session.

    `emitted` are the ids of messages whose words are emitted. `spoken` counts emitted messages by the digest of their
    words. `prompts` maps ids to the beginnings of the user's prompts, and `usage` maps ids of answers to tokens (read,
    written).
    """

    messages: int = 0
    is_sub_agents: bool = False
    title: str = ""
    emitted: set[str] = field(default_factory=set[str])
    spoken: dict[str, int] = field(default_factory=dict[str, int])
    thoughts: dict[str, int] = field(default_factory=dict[str, int])
    prompts: dict[str, str] = field(default_factory=dict[str, str])
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if "$rewindTo" in value:
            return (self._rewound(as_text(value["$rewindTo"]), record),)
        if "$set" in value:
            return self._patched(as_object(value["$set"]), record)
        held = value.get("messages", value.get("history"))
        if isinstance(held, list):
            self._introduce(value)
            return self._document(value, held, record)
        if "type" in value or "role" in value:
            return self._message(value, record)
        if _ABOUT.isdisjoint(value):
            self.notes.skip("not a message")
        self._introduce(value)
        return ()

    def conclude(self) -> Iterable[Draft]:
        read = sum(tokens for tokens, _ in self.usage.values())
        written = sum(tokens for _, tokens in self.usage.values())
        self.notes.learn(title=self.title, input_tokens=read, output_tokens=written)
        return ()

    def _introduce(self, value: Mapping[str, Any]) -> None:
        folder = next(iter(as_list(value.get("directories"))), None)
        self.notes.learn(session_id=as_text(value.get("sessionId")), cwd=as_text(folder))
        self.title = as_text(value.get("summary")) or self.title
        self.is_sub_agents = self.is_sub_agents or value.get("kind") == "subagent"

    def _document(self, value: Mapping[str, Any], held: object, record: Record) -> Iterator[Draft]:
        for message in map(as_object, as_list(held)):
            yield from self._message(message, record)
        self.notes.learn(model=as_text(as_object(value.get("meta")).get("model")))

    def _patched(self, patch: Mapping[str, Any], record: Record) -> Iterator[Draft]:
        self._introduce(patch)
        if "messages" not in patch:
            self.notes.skip("$set")
        counted: dict[str, int] = {}
        for message in map(as_object, as_list(patch.get("messages"))):
            own, mark = as_text(message.get("id")), mark_of(message)
            counted[mark] = counted.get(mark, 0) + bool(mark)
            if mark and own not in self.emitted and counted[mark] <= self.spoken.get(mark, 0):
                self.emitted.add(own)
            if own or not mark:
                yield from self._message(message, record)
            else:
                self.notes.skip("message without an id in $set")

    def _message(self, message: Mapping[str, Any], record: Record) -> Iterator[Draft]:
        self.messages += 1
        own = as_text(message.get("id")) or f"message-{self.messages}"
        time = parse_time(message.get("timestamp", message.get("ts")))
        place = RecordPlace(own, record.line, record.offset, time)
        is_new = own not in self.emitted
        kind = kind_of(message)
        match kind:
            case "user":
                yield from self._user(message, place, is_new=is_new)
            case "gemini" | "model":
                yield from self._model(message, place, is_new=is_new)
            case "info" | "warning" | "error" if is_new:
                self.emitted.add(own)
                yield from self._notice(kind, message, place)
            case "info" | "warning" | "error":
                self.notes.skip("repeated message")
            case _:
                self.notes.skip(kind)

    def _user(self, message: Mapping[str, Any], place: RecordPlace, *, is_new: bool) -> Iterator[Draft]:
        content = message.get("content", message.get("parts"))
        for number, response in enumerate(responses_in(content)):
            yield from self.of_response(response, place, number)
        texts = texts_in(message.get("displayContent")) or texts_in(content)
        for name in others_in(content) if is_new else ():
            self.notes.skip(name)
        if not texts:
            return
        if not is_new:
            self.notes.skip("repeated message")
            return
        self._mark_emitted(message, place)
        for draft in self.of_prompt(texts, place, is_delegated=self.is_sub_agents):
            if draft.kind is Kind.USER:
                self.prompts[place.id] = draft.text[:_LONGEST_PROMPT]
            yield draft

    def _model(self, message: Mapping[str, Any], place: RecordPlace, *, is_new: bool) -> Iterator[Draft]:
        calls = [as_object(call) for call in as_list(message.get("toolCalls"))]
        content = message.get("content", message.get("parts"))
        self._charge(message, place)
        yield from self._thoughts(message, place)
        if is_new and parts_in(content) not in ([], [{"text": ""}]):
            self._mark_emitted(message, place)
            for draft in self.of_model(content, place, has_calls=bool(calls)):
                if draft.text == _ACKNOWLEDGED:
                    self.notes.skip("acknowledgement")
                else:
                    yield draft
        elif not is_new:
            self.notes.skip("repeated message")
        for number, call in enumerate(calls):
            yield from self._called(call, place, number)

    def _thoughts(self, message: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        """Yield the thoughts not emitted yet; a repeated message only adds thoughts."""
        known = self.thoughts.get(place.id, 0)
        thoughts = [as_object(thought) for thought in as_list(message.get("thoughts"))]
        for number, thought in enumerate(thoughts[known:], known):
            said = (as_text(thought.get(key)).strip() for key in ("subject", "description"))
            if text := "\n\n".join(filter(None, said)):
                yield place._replace(id=f"{place.id}/thoughts").draft(Kind.THINKING, text, number)
        if thoughts:
            self.thoughts[place.id] = max(known, len(thoughts))

    def _called(self, call: Mapping[str, Any], place: RecordPlace, number: int) -> Iterator[Draft]:
        """Yield a call and its result; when repeated, only the result that was missing before."""
        own = as_text(call.get("id")) or f"{place.id}/call/{number}"
        place = place._replace(time=parse_time(call.get("timestamp")) or place.time)
        if own not in self.asked:
            yield from self.of_call({**call, "id": own}, place, number)
        status = as_text(call.get("status"))
        if own in self.answered or (status not in _ENDED and not call.get("result")):
            return
        yield from self.of_response(
            {**call, "id": own, "response": response_of(call, own)}, place, number, status=status
        )

    def _notice(self, kind: str, message: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        text = "\n\n".join(texts_in(message.get("content"))).strip()
        if not text or (kind == "info" and not text.startswith(_KEPT_NOTICES)):
            self.notes.skip(kind)
        elif kind == "error":
            yield place.draft(Kind.ERROR, text, is_error=True)
        else:
            yield place.draft(Kind.SYSTEM, text)

    def _rewound(self, target: str, record: Record) -> Draft:
        prompt = self.prompts.get(target)
        place = RecordPlace(f"line-{record.line}-{record.offset}", record.line, record.offset)
        return place.draft(Kind.SYSTEM, f"Rewound to before: {prompt}" if prompt else "Rewound to an earlier point")

    def _mark_emitted(self, message: Mapping[str, Any], place: RecordPlace) -> None:
        self.emitted.add(place.id)
        if mark := mark_of(message):
            self.spoken[mark] = self.spoken.get(mark, 0) + 1

    def _charge(self, message: Mapping[str, Any], place: RecordPlace) -> None:
        self.notes.learn(model=as_text(message.get("model")))
        tokens = as_object(message.get("tokens"))
        if tokens:
            read = as_count(tokens.get("input")) + as_count(tokens.get("tool"))
            self.usage[place.id] = read, as_count(tokens.get("output")) + as_count(tokens.get("thoughts"))
