"""Parse Cursor transcripts (JSON lines: `{role, message}` or `turn_ended`) into entries.

A result without an id answers the first open call of its turn. Only prompts have a time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import BlockReading, blocks_in
from nous.transcript.parsing.fields import JsonObject, object_at, text_at
from nous.transcript.parsing.user_text import INJECTED, has_insertions
from nous.transcript.parsing.values import as_arguments, as_shown
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME = re.compile(
    r"<timestamp>\s?(?:[A-Za-z]{2,9},? )?(?P<when>[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d[ \u202f][AP]M)"
    r"(?: \(UTC(?P<zone>[+-]\d{1,2}(?::\d\d)?)?\))?\s?</timestamp>"
)
_TAG = re.compile(r"\s*<(?P<name>[a-z]+(?:_[a-z]+)+|timestamp|rules)(?: [^<>\n]*)?>")
_FOLDER = re.compile(r"^Workspace Path: (?P<path>[^\n]+)", re.MULTILINE)


def _words_in(text: str) -> str:
    if _QUERY in text:
        queries = (query.partition(_QUERY_END)[0].strip() for query in text.split(_QUERY)[1:])
        return "\n\n".join(filter(None, queries))
    text, start = text.strip(), 0
    while (tag := _TAG.match(text, start)) and (end := text.find(f"</{tag['name']}>", tag.end())) >= 0:
        start = text.index(">", end) + 1
    return text[start:].lstrip()


def _time_in(text: str) -> datetime | None:
    found = _TIME.search(text)
    if found is None:
        return None
    hours, _, minutes = (found["zone"] or "+0").partition(":")
    east = timedelta(hours=int(hours), minutes=int(f"{hours[0]}{minutes or 0}"))
    try:
        when = found["when"].replace("\u202f", " ").replace(",", "")
        return datetime.strptime(when, "%b %d %Y %I:%M %p").replace(tzinfo=timezone(east)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


_ROLES = frozenset({"user", "assistant"})
_OTHERS_KEYS = frozenset({"uuid", "sessionId", "parentUuid", "payload", "parts"})
_CALLS = frozenset({"tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_REDACTED = "[REDACTED]"
_FAILED = frozenset({"error", "failed", "failure"})


def _confidence(sample: Sample) -> float:
    ends = sample.share(lambda record: record.get("type") == "turn_ended")
    messages = sample.share(_is_message)
    return 0.9 * (messages + ends) if messages else 0.0


def _is_message(record: JsonObject) -> bool:
    is_plain = "type" not in record and not _OTHERS_KEYS & record.keys()
    return is_plain and str(record.get("role")) in _ROLES and "content" in object_at(record, "message")


@dataclass(slots=True)
class _Session(BlockReading):
    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        content = object_at(value, "message").get("content")
        place = RecordPlace(f"line-{record.line}", record.line, record.offset)
        self.notes.learn(model=text_at(value, "model"))
        match text_at(value, "role"):
            case "user":
                return self._user(value, content, place)
            case "assistant":
                return self._answered(content, place)
            case _ if value.get("type") == "turn_ended":
                return self._ended(value, place)
            case _:
                return self.skip(str(value.get("type", "not a message")))

    def _user(self, value: JsonObject, content: object, place: RecordPlace) -> Iterator[Draft]:
        texts: list[str] = []
        status = str(object_at(value, "metadata").get("toolResultStatus"))
        for part, block in enumerate(blocks_in(content), 1):
            kind = str(block.get("type"))
            if kind in _RESULTS:
                yield self._returned(block, place, part, failed=status in _FAILED)
            elif kind == "text":
                texts.append(text_at(block, "text"))
            else:
                self.notes.skip(f"{kind} block")
        if texts:
            yield from self._prompt(texts, place)

    def _prompt(self, texts: list[str], place: RecordPlace) -> Iterator[Draft]:
        place = place._replace(time=next(filter(None, map(_time_in, texts)), None))
        folder = next(filter(None, map(_FOLDER.search, texts)), None)
        self.notes.learn(cwd=folder["path"].strip() if folder else None)
        said: list[str] = []
        for text in texts:
            if words := _words_in(text):
                said.append(words)
                if has_insertions(text) and not has_insertions(words):
                    self.notes.skip(INJECTED)
            else:
                self.notes.skip("inserted context" if text.strip() else "empty message")
        drafts = self.said(said, place)
        if any(draft.kind is Kind.USER for draft in drafts):
            self.calls.clear()
        yield from drafts

    def _answered(self, content: object, place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts of an answer, without the mark for text that Cursor left out."""
        for part, block in enumerate(blocks_in(content), 1):
            kind = str(block.get("type"))
            if kind in _CALLS:
                own = text_at(block, "id", "toolCallId") or f"{place.id}/{part}"
                given = as_arguments(block.get("input", block.get("args")))
                yield self.call(text_at(block, "name", "toolName"), given, own, place, part)
            elif kind in {"thinking", "reasoning"}:
                if thought := text_at(block, "thinking", "text").strip():
                    yield place.draft(Kind.THINKING, thought, part)
            else:
                text = text_at(block, "text").strip()
                words = text.removesuffix(_REDACTED).rstrip()
                if kind != "text":
                    self.notes.skip(f"{kind} block")
                elif not words:
                    self.notes.skip("redacted text" if text else "empty text")
                if words:
                    yield place.draft(Kind.ASSISTANT, words)

    def _returned(self, block: JsonObject, place: RecordPlace, part: int, *, failed: bool) -> Draft:
        """Return the draft of a result; without an id it answers the first open call (of its tool)."""
        tool, own = text_at(block, "name", "toolName"), text_at(block, "tool_use_id", "toolCallId")
        if own not in self.calls:
            own = next((call for call, made in self.calls.items() if not tool or made.tool == tool), "")
        content = block.get("content", block.get("result"))
        text = self.text(content) if isinstance(content, str | list) else as_shown(content)
        return self.result(text, own, place, part, is_error=failed or block.get("is_error") is True, tool=tool)

    def _ended(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        status, why = str(value.get("status")), text_at(value, "error").strip()
        if status in _FAILED:
            return (place.draft(Kind.ERROR, why or "The turn failed", is_error=True),)
        if status == "aborted":
            return (place.draft(Kind.SYSTEM, why or "The turn was aborted"),)
        return self.skip("turn_ended")


READER = FormatReader("cursor", _confidence, _Session)
