"""Cursor: JSON lines `{role, message: {content: blocks}}`, without ids and often without the results of tools.

Results are paired with the calls of the same turn in order. Only prompts say when they were sent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.base import Draft, Place, Reading, Sample
from nous.transcript.input.records import Record
from nous.transcript.model import Kind
from nous.transcript.notes import Notes
from nous.transcript.reading.agent import AgentReading
from nous.transcript.reading.blocks import blocks_in, text_of
from nous.transcript.reading.cursor.words import folder_in, notice_in, time_in, words_in
from nous.transcript.reading.fields import as_arguments, as_object, as_shown, as_text

_ROLES = frozenset({"user", "assistant"})
_OTHERS_KEYS = frozenset({"uuid", "sessionId", "parentUuid", "payload", "parts"})
_CALLS = frozenset({"tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_REDACTED = "[REDACTED]"
_FAILED = frozenset({"error", "failed", "failure"})

JsonObject = Mapping[str, Any]


class Cursor:
    """Reads the transcripts of agents that Cursor and its command line keep."""

    format = "cursor"

    def sniff(self, sample: Sample) -> float:
        messages = sum(map(_is_message, sample.records))
        ends = sum(record.get("type") == "turn_ended" for record in sample.records)
        return 0.9 * (messages + ends) / len(sample.records) if messages else 0.0

    def begin(self, notes: Notes) -> Reading:
        return _Session(notes)


READER = Cursor()


def _is_message(record: JsonObject) -> bool:
    is_plain = "type" not in record and not _OTHERS_KEYS & record.keys()
    return is_plain and str(record.get("role")) in _ROLES and "content" in as_object(record.get("message"))


@dataclass(slots=True)
class _Session(AgentReading):
    """The lines of a session, one after another."""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        role = as_text(value.get("role"))
        content = as_object(value.get("message")).get("content")
        place = Place(f"line-{record.line}", record.line, record.offset)
        self.notes.learn(model=as_text(value.get("model")))
        if role == "user":
            return self._user(value, content, place)
        if role == "assistant":
            return self._answered(content, place)
        if value.get("type") == "turn_ended":
            return self._ended(value, place)
        self.notes.skip(str(value.get("type", "not a message")))
        return ()

    def _user(self, value: JsonObject, content: object, place: Place) -> Iterator[Draft]:
        texts: list[str] = []
        for part, block in enumerate(blocks_in(content), 1):
            kind = str(block.get("type"))
            if kind in _RESULTS:
                yield self._returned(block, value, place, part)
            elif kind == "text":
                texts.append(as_text(block.get("text")))
            else:
                self.notes.skip(f"{kind} block")
        if texts:
            yield from self._prompt(texts, place)

    def _prompt(self, texts: list[str], place: Place) -> Iterator[Draft]:
        place = place._replace(time=next(filter(None, map(time_in, texts)), None))
        self.notes.learn(cwd=next(filter(None, map(folder_in, texts)), None))
        said: list[str] = []
        for part, text in enumerate(texts, 1):
            if notice := notice_in(text):
                kind, is_meta = (Kind.SUB_AGENT, False) if notice.kind == "subagent" else (Kind.SYSTEM, True)
                yield place.draft(kind, notice.text, part, is_meta=is_meta)
            elif words := words_in(text):
                said.append(words)
            else:
                self.notes.skip("inserted context" if text.strip() else "empty message")
        drafts = self.said(said, place)
        if any(draft.kind is Kind.USER for draft in drafts):
            self.calls.clear()
        yield from drafts

    def _answered(self, content: object, place: Place) -> Iterator[Draft]:
        for part, block in enumerate(blocks_in(content), 1):
            kind = str(block.get("type"))
            if kind in _CALLS:
                own = as_text(block.get("id")) or as_text(block.get("toolCallId")) or f"{place.id}/{part}"
                tool = as_text(block.get("name")) or as_text(block.get("toolName"))
                given = as_arguments(block.get("input", block.get("args")))
                yield self.call(tool, given, own, place, part)
            elif kind in {"thinking", "reasoning"}:
                if thought := as_text(block.get("thinking", block.get("text"))).strip():
                    yield place.draft(Kind.THINKING, thought, part)
            else:
                yield from self._said(block, kind, place)

    def _said(self, block: JsonObject, kind: str, place: Place) -> Iterable[Draft]:
        """Words of the model. Of a block of an unknown kind, the text; Cursor leaves a mark for what it left out."""
        text = as_text(block.get("text")).strip()
        words = text.removesuffix(_REDACTED).rstrip()
        if kind != "text":
            self.notes.skip(f"{kind} block")
        elif not words:
            self.notes.skip("redacted text" if text else "empty text")
        return (place.draft(Kind.ASSISTANT, words),) if words else ()

    def _returned(self, block: JsonObject, value: JsonObject, place: Place, part: int) -> Draft:
        tool = as_text(block.get("name")) or as_text(block.get("toolName"))
        status = str(as_object(value.get("metadata")).get("toolResultStatus"))
        own = self._answered_call(as_text(block.get("tool_use_id")) or as_text(block.get("toolCallId")), tool)
        content = block.get("content", block.get("result"))
        text = text_of(content) if isinstance(content, str | list) else as_shown(content)
        for inner in blocks_in(content):
            if inner.get("type", "text") != "text":
                self.notes.skip(f"{inner.get('type')} block")
        failed = block.get("is_error") is True or status in _FAILED
        return self.result(text, own, place, part, is_error=failed, tool=tool)

    def _answered_call(self, own: str, tool: str) -> str:
        """The call that a result belongs to: that of its id, else the first that waits, of *tool* if that is named."""
        if own in self.calls:
            return own
        waiting = (call for call, made in self.calls.items() if not tool or made.tool == tool)
        return next(waiting, "")

    def _ended(self, value: JsonObject, place: Place) -> Iterable[Draft]:
        status, why = str(value.get("status")), as_text(value.get("error")).strip()
        if status in _FAILED:
            return (place.draft(Kind.ERROR, why or "The turn failed", is_error=True),)
        if status == "aborted":
            return (place.draft(Kind.SYSTEM, why or "The turn was aborted"),)
        self.notes.skip("turn_ended")
        return ()
