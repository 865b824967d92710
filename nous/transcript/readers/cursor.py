"""Reader for Cursor transcripts: JSON lines `{role, message: {content: blocks}}`.

They have no ids, and often no results of tools. Results are paired with the calls of the same turn in order. Only
prompts have a time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import blocks_in, text_of
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_arguments, as_object, as_shown, as_text
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME = re.compile(
    r"<timestamp>[ \n]?(?:[A-Za-z]{2,9},? )?(?P<month>[A-Z][a-z]{2})[a-z]{0,6} (?P<day>\d{1,2}), (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?(?:[ \u202f](?P<half>[AP]M))?"
    r"(?: \((?:UTC|GMT)(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d\d))?)?\))?[ \n]?</timestamp>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAG = re.compile(r"\s*<(?P<name>[a-z]+(?:_[a-z]+)+|timestamp|rules)(?: [^<>\n]*)?>")
_FOLDER = re.compile(r"^Workspace Path: (?P<path>[^\n]+)", re.MULTILINE)
_FIELD = re.compile(r"^(?P<name>kind|status|title|detail): ?(?P<value>[^\n]*)", re.MULTILINE)
_NOTIFIED = "<system_notification>"


class Notice(NamedTuple):
    """Notification to the model, in a user message, that a task of this *kind* has ended."""

    kind: str
    text: str


def words_in(text: str) -> str:
    """Return the text that the user typed; empty if all of *text* is Cursor's."""
    if _QUERY in text:
        return "\n\n".join(query for query in _queries(text) if query)
    return _without_context(text)


def time_in(text: str) -> datetime | None:
    """Return the time when the prompt was sent; None if *text* does not give it."""
    found = _TIME.match(text, text.find("<timestamp>")) if "<timestamp>" in text else None
    if found is None or found["month"] not in _MONTHS:
        return None
    hour = int(found["hour"]) % 12 + 12 * (found["half"] == "PM") if found["half"] else int(found["hour"])
    east = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    day = _MONTHS.index(found["month"]) + 1, int(found["day"])
    try:
        there = datetime(int(found["year"]), *day, hour, int(found["minute"]), tzinfo=UTC)
        return there + east if found["sign"] == "-" else there - east
    except (ValueError, OverflowError):
        return None


def folder_in(text: str) -> str:
    """Return the directory that was open; empty if *text* does not give it."""
    found = _FOLDER.search(text) if "<user_info>" in text else None
    return found["path"].strip() if found else ""


def notice_in(text: str) -> Notice | None:
    """Return the notice of an ended task; None if *text* is no notification."""
    if _QUERY in text or not (text.partition("</timestamp>")[2] or text).lstrip().startswith(_NOTIFIED):
        return None
    fields = {found["name"]: found for found in reversed(list(_FIELD.finditer(text)))}
    kind = fields["kind"]["value"].strip() if "kind" in fields else ""
    title = fields["title"]["value"].strip() if "title" in fields else "a task"
    status = fields["status"]["value"].strip() if "status" in fields else "ended"
    detail = text[fields["detail"].start("value") :] if "detail" in fields else ""
    detail = detail.partition("\n</task>")[0].partition("\noutput_path:")[0].strip()
    return Notice(kind, f"{title} ({status})" + (f": {detail}" if detail else ""))


def _queries(text: str) -> Iterator[str]:
    start = text.find(_QUERY)
    while start >= 0:
        end = text.find(_QUERY_END, start)
        yield text[start + len(_QUERY) : end if end >= 0 else len(text)].strip()
        start = text.find(_QUERY, end) if end >= 0 else -1


def _without_context(text: str) -> str:
    """Return *text* without the elements at its beginning."""
    text = text.strip()
    start = 0
    while tag := _TAG.match(text, start):
        close = f"</{tag['name']}>"
        end = text.find(close, tag.end())
        if end < 0:
            break
        start = end + len(close)
    return text[start:].lstrip()


_ROLES = frozenset({"user", "assistant"})
_OTHERS_KEYS = frozenset({"uuid", "sessionId", "parentUuid", "payload", "parts"})
_CALLS = frozenset({"tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_REDACTED = "[REDACTED]"
_FAILED = frozenset({"error", "failed", "failure"})

JsonObject = Mapping[str, Any]


class Cursor:
    """Reads transcripts of agents in Cursor and in its command line."""

    format = "cursor"

    def sniff(self, sample: Sample) -> float:
        messages = sum(map(_is_message, sample.records))
        ends = sum(record.get("type") == "turn_ended" for record in sample.records)
        return 0.9 * (messages + ends) / len(sample.records) if messages else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Cursor()


def _is_message(record: JsonObject) -> bool:
    is_plain = "type" not in record and not _OTHERS_KEYS & record.keys()
    return is_plain and str(record.get("role")) in _ROLES and "content" in as_object(record.get("message"))


@dataclass(slots=True)
class _Session(AgentReading):
    """The lines of a session."""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        role = as_text(value.get("role"))
        content = as_object(value.get("message")).get("content")
        place = RecordPlace(f"line-{record.line}", record.line, record.offset)
        self.notes.learn(model=as_text(value.get("model")))
        if role == "user":
            return self._user(value, content, place)
        if role == "assistant":
            return self._answered(content, place)
        if value.get("type") == "turn_ended":
            return self._ended(value, place)
        self.notes.skip(str(value.get("type", "not a message")))
        return ()

    def _user(self, value: JsonObject, content: object, place: RecordPlace) -> Iterator[Draft]:
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

    def _prompt(self, texts: list[str], place: RecordPlace) -> Iterator[Draft]:
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

    def _answered(self, content: object, place: RecordPlace) -> Iterator[Draft]:
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

    def _said(self, block: JsonObject, kind: str, place: RecordPlace) -> Iterable[Draft]:
        """Return the model's words in a block.

        Of a block of unknown kind the text is used. A mark stands for text that Cursor left out.
        """
        text = as_text(block.get("text")).strip()
        words = text.removesuffix(_REDACTED).rstrip()
        if kind != "text":
            self.notes.skip(f"{kind} block")
        elif not words:
            self.notes.skip("redacted text" if text else "empty text")
        return (place.draft(Kind.ASSISTANT, words),) if words else ()

    def _returned(self, block: JsonObject, value: JsonObject, place: RecordPlace, part: int) -> Draft:
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
        """Return the call of a result: by id, else the first open call (of *tool*, if named)."""
        if own in self.calls:
            return own
        waiting = (call for call, made in self.calls.items() if not tool or made.tool == tool)
        return next(waiting, "")

    def _ended(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        status, why = str(value.get("status")), as_text(value.get("error")).strip()
        if status in _FAILED:
            return (place.draft(Kind.ERROR, why or "The turn failed", is_error=True),)
        if status == "aborted":
            return (place.draft(Kind.SYSTEM, why or "The turn was aborted"),)
        self.notes.skip("turn_ended")
        return ()
