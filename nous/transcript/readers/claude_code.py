"""Claude Code: JSON lines of `~/.claude/projects/<project>/<session>.jsonl`.

One answer of the model comes as several records with one `message.id`; most records of type `user` are results of
tools; what the user typed while the model was at work stands in the queue.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Blocks, Place, text_of
from nous.transcript.claude.about import About
from nous.transcript.claude.queue import Queue
from nous.transcript.fields import as_object, as_text
from nous.transcript.model import Entry, Kind
from nous.transcript.records import Record, records
from nous.transcript.timestamps import parse_time

_MARKS = ("parentUuid", "isSidechain", "leafUuid")
_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode", "custom-title", "ai-title"})
_HEAD = 700
_PROGRESS = b'"type":"progress"'
_MESSAGE = b'"message":'
_SNAPSHOT = b'{"type":"file-history-snapshot"'
_NOT_FROM_A_PERSON = frozenset({"task-notification", "coordinator", "teammate", "hook", "agent", "channel"})
_MESSAGES = frozenset({"user", "assistant"})
_NO_ANSWER = "No response requested."


JsonObject = Mapping[str, Any]


class ClaudeCode:
    """Reads what Claude Code 1.0 to 2.1 wrote."""

    format = "claude_code"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        is_qwens = any("parts" in as_object(record.get("message")) for record in sample.records)
        return min(1.0, 0.5 + marked / len(sample.records)) if marked and not is_qwens else 0.0

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        session = _Session(notes)
        for record in records(stream, notes, pass_over=_noise):
            yield from session.entries(record)
        session.about.conclude()


READER = ClaudeCode()


def _is_marked(record: Mapping[str, Any]) -> bool:
    if any(mark in record for mark in _MARKS):
        return True
    return "sessionId" in record and ("uuid" in record or str(record.get("type")) in _TYPES)


def _noise(line: bytes) -> str | None:
    """Two records of three are noise, told by their beginning; a message that speaks of such a record is none."""
    if line.startswith(_SNAPSHOT):
        return "file-history-snapshot"
    found = line.find(_PROGRESS, 0, _HEAD)
    return "progress" if found >= 0 and line.find(_MESSAGE, 0, found) < 0 else None


class _Session:
    """What has to be remembered from one record to the next."""

    def __init__(self, notes: Notes) -> None:
        self.about = About(notes)
        self._notes = notes
        self._blocks = Blocks(notes)
        self._queue = Queue(notes)
        self._seen: set[str] = set()
        self._links: set[str] = set()
        self._is_sidechain: bool | None = None
        self._kinds: Mapping[str, Callable[[JsonObject, Place], Iterator[Entry]]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "queue-operation": self._queue.moved,
            "attachment": self._attachment,
            "summary": self._summary,
            "custom-title": self._title,
            "ai-title": self._title,
            "pr-link": self._link,
        }

    def entries(self, record: Record) -> Iterator[Entry]:
        value = record.value
        kind = str(value.get("type", "no type"))
        uuid = as_text(value.get("uuid"))
        if self._is_sidechain is None and kind in _MESSAGES:
            self._is_sidechain = value.get("isSidechain") is True
            self.about.introduce(value)
        if reason := self._reason_to_skip(kind, uuid, value):
            self._notes.skip(reason)
            return
        if uuid:
            self._seen.add(uuid)
        place = Place(uuid or f"line-{record.line}", record.line, record.offset, parse_time(value.get("timestamp")))
        yield from self._kinds[kind](value, place)

    def _reason_to_skip(self, kind: str, uuid: str, value: JsonObject) -> str | None:
        """A file belongs to whom its first message belongs: to the session, or to a sub-agent."""
        if kind not in self._kinds:
            return kind
        if uuid and uuid in self._seen:
            return "repeated record"
        is_foreign = "isSidechain" in value and (value["isSidechain"] is True) != bool(self._is_sidechain)
        return "sidechain" if is_foreign else None

    def _user(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        content = as_object(value.get("message")).get("content")
        if value.get("isCompactSummary") is True:
            yield place.entry(Kind.SUMMARY, text_of(content))
            return
        is_meta = value.get("isMeta") is True or _is_from_a_program(value)
        is_rejected = value.get("toolDenialKind") == "user-rejected"
        for entry in self._blocks.of_user(content, place, is_meta=is_meta, is_rejected=is_rejected):
            if entry.kind is not Kind.USER or self._queue.is_new(entry.text):
                yield entry

    def _assistant(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        message = as_object(value.get("message"))
        if value.get("isApiErrorMessage") is True:
            yield place.entry(Kind.ERROR, text_of(message.get("content")), is_error=True)
            return
        own = as_text(message.get("id")) or place.id
        self.about.charge(own, message)
        for entry in self._blocks.of_assistant(message.get("content"), place, message=own):
            if entry.text == _NO_ANSWER:
                self._notes.skip("no response requested")
            else:
                yield entry

    def _system(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        subtype, content = str(value.get("subtype")), as_text(value.get("content"))
        match subtype:
            case "compact_boundary":
                yield place.entry(Kind.SYSTEM, _compaction(value))
            case "api_error" | "error" | "api_refusal":
                yield place.entry(Kind.ERROR, _api_error(value), is_error=True)
            case "local_command" if content:
                yield from self._blocks.of_user(content, place)
            case "away_summary" if content:
                yield place.entry(Kind.SYSTEM, content)
            case _:
                self._notes.skip(f"system: {subtype}")

    def _attachment(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        attachment = as_object(value.get("attachment"))
        if attachment.get("type") != "queued_command":
            self._notes.skip(f"attachment: {attachment.get('type')}")
            return
        is_task = attachment.get("commandMode") == "task-notification"
        is_meta = is_task or attachment.get("isMeta") is True or _is_from_a_program(attachment)
        for entry in self._blocks.of_user(attachment.get("prompt"), place, is_meta=is_meta):
            if self._queue.is_new(entry.text):
                yield entry

    def _summary(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        """Most summaries at the head of a file are of other sessions: their leaf is in none of its records."""
        if as_text(value.get("leafUuid")) in self._seen:
            yield from self._title(value, place)
        else:
            yield place.entry(Kind.SYSTEM, f"An earlier session: {as_text(value.get('summary'))}")

    def _title(self, value: JsonObject, _: Place) -> Iterator[Entry]:
        self.about.title(value)
        self._notes.skip("title")
        return iter(())

    def _link(self, value: JsonObject, place: Place) -> Iterator[Entry]:
        url = as_text(value.get("prUrl"))
        if url in self._links:
            self._notes.skip("repeated pr-link")
        else:
            self._links.add(url)
            yield place.entry(Kind.SYSTEM, f"Pull request #{value.get('prNumber')}: {url}")


def _is_from_a_program(value: JsonObject) -> bool:
    return str(as_object(value.get("origin")).get("kind")) in _NOT_FROM_A_PERSON


def _compaction(value: JsonObject) -> str:
    metadata = as_object(value.get("compactMetadata"))
    return f"Conversation compacted ({metadata.get('trigger', 'auto')}, {metadata.get('preTokens', '?')} tokens)"


def _api_error(value: JsonObject) -> str:
    error = as_object(value.get("error"))
    said = (value.get("content"), value.get("apiRefusalExplanation"), error.get("message"), error.get("status"))
    what = next((str(text) for text in said if text), "no reason given")
    attempt = f" (attempt {value['retryAttempt']})" if value.get("retryAttempt") else ""
    return f"API error: {what}{attempt}"
