"""Parse Qwen Code transcripts (`~/.qwen/projects/*/chats/<session>.jsonl`) into entries.

Records have the form of Claude Code's, messages that of the Gemini API. One answer may come as several records with one
`uuid`. `displayText` is the user's text, beside the text that the model got instead.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.gemini import GeminiPartReading, others_in, responses_in, texts_in
from nous.transcript.parsing.sessions import digest_of
from nous.transcript.parsing.values import as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_MESSAGES = frozenset({"user", "assistant", "tool_result"})
# Subtypes of user records with a person's words; other subtypes are prompts of a program.
_TYPED = frozenset({"", "mid_turn_user_message", "realtime_message"})
_PERSONS = frozenset({"", "real_user"})
_SNAPSHOT = "<state_snapshot>"
_ENOUGH = 0.5


def _confidence(sample: Sample) -> float:
    marked = sample.share(_is_marked)
    return 1.0 if marked >= _ENOUGH else 0.5 if marked else 0.0


def _is_marked(record: JsonObject) -> bool:
    is_record = "uuid" in record and "sessionId" in record
    return is_record and ("systemPayload" in record or "parts" in object_at(record, "message"))


@dataclass(slots=True)
class _Session(GeminiPartReading):
    """The records of a session; `command` is a slash command whose text comes again as a prompt."""

    command: str = ""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = text_at(value, "type") or "no type"
        own = text_at(value, "uuid") or f"line-{record.line}-{record.offset}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        if kind == "system":
            return self._system(value, place)
        if kind not in _MESSAGES:
            return self.skip(kind)
        if not self.is_introduced:
            self.introduce(value)
        mark = digest_of(own, kind, as_shown(value.get("message")))
        return () if self.is_repeated(mark) else self._spoken(kind, value, place)

    def _spoken(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        match kind:
            case "assistant":
                self.notes.learn(model=text_at(value, "model"))
                drafts = self.of_model(object_at(value, "message").get("parts"), place)
            case "tool_result":
                drafts = self._results(value, place)
            case _:
                drafts = self._user(value, place)
        is_aside = (value.get("isSidechain") is True) is not self.is_sub_agents
        for draft in drafts:
            if is_aside:
                draft.agent = text_at(value, "agentId") or "sidechain"
            yield draft

    def _user(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        parts = object_at(value, "message").get("parts")
        for number, response in enumerate(responses_in(parts)):
            yield from self.of_response(response, place, number)
        shown = text_at(object_at(value, "systemPayload"), "displayText").strip()
        texts = [shown] if shown else texts_in(parts)
        if text_at(value, "subtype") not in _TYPED or text_at(value, "provenance") not in _PERSONS:
            yield from (place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(texts))
            return
        self.notes.skipped.update(others_in(parts))
        command, self.command = self.command, ""
        if command and (not shown or shown == command):
            self.notes.skip("prompt of a slash command")
        elif texts:
            yield from self.of_prompt(texts, place)
        else:
            self.notes.skip("empty message")

    def _results(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        reported = object_at(value, "toolCallResult")
        parts = object_at(value, "message").get("parts")
        self.notes.skipped.update([*others_in(parts), *("text beside a result" for _ in texts_in(parts))])
        shown = {"output": as_shown(reported.get("resultDisplay"))}
        for number, response in enumerate(responses_in(parts)):
            answer = {**response, "response": response.get("response") or shown}
            yield from self.of_response(answer, place, number, status=text_at(reported, "status"))

    def _system(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        subtype, payload = text_at(value, "subtype") or "no subtype", object_at(value, "systemPayload")
        match subtype:
            case "slash_command":
                return self._slash_command(payload, place)
            case "chat_compression":
                history = objects_at(payload, "compressedHistory")
                texts = (text for content in history for text in texts_in(content.get("parts")) if _SNAPSHOT in text)
                return self.text_or_skip(Kind.SUMMARY, next(texts, ""), place, subtype)
            case "ui_telemetry" if error := text_at(object_at(payload, "uiEvent"), "error_message"):
                return (place.draft(Kind.ERROR, f"API error: {error}", is_error=True),)
            case "rewind":
                return (place.draft(Kind.SYSTEM, "Rewound to an earlier point"),)
            case "background_task_completed" if text := text_at(payload, "displayText"):
                return (place.draft(Kind.SUB_AGENT, text),)
            case "custom_title":
                self.title = text_at(payload, "customTitle") or self.title
                return self.skip("title")
            case _:
                pass
        return self.skip(f"system: {subtype}")

    def _slash_command(self, payload: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        command = text_at(payload, "rawCommand").strip()
        is_result = payload.get("phase") == "result" or "outputHistoryItems" in payload
        if is_result or payload.get("hiddenInvocation") is True:
            return self.skip("result of a slash command" if is_result else "hidden slash command")
        self.command = command if payload.get("sentToModel") is True else ""
        return self.of_prompt([command], place)


READER = FormatReader("qwen", _confidence, _Session)
