"""Claude Code: JSON lines of `~/.claude/projects/<project>/<session>.jsonl`.

One answer of the model comes as several records with one `message.id`; most records of type `user` are results of
tools; what the user typed while the model was at work stands in the queue.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, cast

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Blocks, Place, text_of
from nous.transcript.claude_queue import Queue
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
_NO_ANSWER = "No response requested."


_HEADER = {"session_id": "sessionId", "cwd": "cwd", "git_branch": "gitBranch"}
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class ClaudeCode:
    """Reads what Claude Code 1.0 to 2.1 wrote."""

    format = "claude_code"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        if not marked or any("parts" in _message(record) for record in sample.records):  # Qwen's lines have parts
            return 0.0
        return min(1.0, 0.5 + marked / len(sample.records))

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        session = _Session(notes)
        for record in records(stream, notes, pass_over=_noise):
            yield from session.entries(record)
        session.conclude()


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
        self._notes = notes
        self._blocks = Blocks(notes)
        self._queue = Queue(notes)
        self._seen: set[str] = set()
        self._links: set[str] = set()
        self._usage: dict[str, tuple[int, int]] = {}
        self._titles: dict[str, str] = {}
        self._is_sidechain: bool | None = None

    def entries(self, record: Record) -> Iterator[Entry]:
        value = record.value
        kind = str(value.get("type", "no type"))
        uuid = value.get("uuid")
        if isinstance(uuid, str):
            if uuid in self._seen:
                self._notes.skip("repeated record")
                return
            self._seen.add(uuid)
        if kind in {"user", "assistant"} and self._is_sidechain is None:
            self._is_sidechain = value.get("isSidechain") is True
            self._introduce(value)
        if "isSidechain" in value and (value["isSidechain"] is True) != bool(self._is_sidechain):
            self._notes.skip("sidechain")
            return
        place = Place(
            str(uuid or f"line-{record.line}"), record.line, record.offset, parse_time(value.get("timestamp"))
        )
        yield from self._of_kind(kind, value, place)

    def conclude(self) -> None:
        """Add to the header what only the whole file tells."""
        title = self._titles.get("custom-title") or self._titles.get("ai-title") or self._titles.get("summary")
        read, written = (sum(tokens) for tokens in zip(*self._usage.values(), strict=True)) if self._usage else (0, 0)
        self._notes.learn(title=title, input_tokens=read, output_tokens=written)

    def _of_kind(self, kind: str, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        match kind:
            case "user":
                yield from self._user(value, place)
            case "assistant":
                yield from self._assistant(value, place)
            case "system":
                yield from self._system(value, place)
            case "queue-operation":
                yield from self._queue.moved(value, place)
            case "attachment":
                yield from self._attachment(value, place)
            case "summary" | "custom-title" | "ai-title":
                yield from self._title(kind, value, place)
            case "pr-link":
                yield from self._link(value, place)
            case _:
                self._notes.skip(kind)

    def _user(self, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        content = _message(value).get("content")
        if value.get("isCompactSummary") is True:
            yield place.entry(Kind.SUMMARY, text_of(content))
            return
        is_meta = value.get("isMeta") is True or _origin(value) in _NOT_FROM_A_PERSON
        is_rejected = value.get("toolDenialKind") == "user-rejected"
        for entry in self._blocks.of_user(content, place, is_meta=is_meta, is_rejected=is_rejected):
            if entry.kind is not Kind.USER or self._queue.is_new(entry.text):
                yield entry

    def _assistant(self, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        message = _message(value)
        own = str(message.get("id") or place.id)
        if value.get("isApiErrorMessage") is True:
            yield place.entry(Kind.ERROR, text_of(message.get("content")), is_error=True)
            return
        self._charge(own, message)
        for entry in self._blocks.of_assistant(message.get("content"), place, message=own):
            if entry.text == _NO_ANSWER:
                self._notes.skip("no response requested")
            else:
                yield entry

    def _system(self, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        subtype, content = str(value.get("subtype")), value.get("content")
        match subtype:
            case "compact_boundary":
                yield place.entry(Kind.SYSTEM, _compaction(value))
            case "api_error" | "error" | "api_refusal":
                yield place.entry(Kind.ERROR, _api_error(value), is_error=True)
            case "local_command" if isinstance(content, str):
                yield from self._blocks.of_user(content, place)
            case "away_summary" if isinstance(content, str):
                yield place.entry(Kind.SYSTEM, content)
            case _:
                self._notes.skip(f"system: {subtype}")

    def _attachment(self, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        attachment = value.get("attachment")
        given = cast("Mapping[str, Any]", attachment) if isinstance(attachment, Mapping) else {}
        if given.get("type") != "queued_command":
            self._notes.skip(f"attachment: {given.get('type')}")
            return
        is_meta = given.get("isMeta") is True or given.get("commandMode") == "task-notification"
        is_meta = is_meta or _origin(given) in _NOT_FROM_A_PERSON
        for entry in self._blocks.of_user(given.get("prompt"), place, is_meta=is_meta):
            if self._queue.is_new(entry.text):
                yield entry

    def _title(self, kind: str, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        """A title of this session goes into the header. Most summaries at the head of a file are of other sessions."""
        text = value.get(_TITLES[kind])
        if not isinstance(text, str):
            self._notes.skip(kind)
        elif kind != "summary" or str(value.get("leafUuid")) in self._seen:
            self._titles[kind] = text
        else:
            yield place.entry(Kind.SYSTEM, f"An earlier session: {text}")

    def _link(self, value: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        url = str(value.get("prUrl"))
        if url not in self._links:
            self._links.add(url)
            yield place.entry(Kind.SYSTEM, f"Pull request #{value.get('prNumber')}: {url}")

    def _introduce(self, value: Mapping[str, Any]) -> None:
        said = {name: value.get(key) for name, key in _HEADER.items()}
        self._notes.learn(**{name: text for name, text in said.items() if isinstance(text, str)})

    def _charge(self, own: str, message: Mapping[str, Any]) -> None:
        """Keep the largest usage that is given for one message: the records of it repeat or complete it."""
        model, usage = message.get("model"), message.get("usage")
        if self._notes.header.model is None and isinstance(model, str) and not model.startswith("<"):
            self._notes.learn(model=model)
        if isinstance(usage, dict):
            counts = cast("Mapping[str, object]", usage)
            read = sum(_count(counts, key) for key in _READ_TOKENS)
            before = self._usage.get(own, (0, 0))
            self._usage[own] = max(before[0], read), max(before[1], _count(counts, "output_tokens"))


def _message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    message = value.get("message")
    return cast("Mapping[str, Any]", message) if isinstance(message, Mapping) else {}


def _origin(value: Mapping[str, Any]) -> str:
    origin = value.get("origin")
    return str(cast("Mapping[str, Any]", origin).get("kind")) if isinstance(origin, Mapping) else ""


def _count(counts: Mapping[str, object], key: str) -> int:
    number = counts.get(key)
    return number if isinstance(number, int) else 0


def _compaction(value: Mapping[str, Any]) -> str:
    found = value.get("compactMetadata")
    metadata = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
    return f"Conversation compacted ({metadata.get('trigger', 'auto')}, {metadata.get('preTokens', '?')} tokens)"


def _api_error(value: Mapping[str, Any]) -> str:
    found = value.get("error")
    error = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
    said = (value.get("content"), value.get("apiRefusalExplanation"), error.get("message"), error.get("status"))
    what = next((str(text) for text in said if text), "no reason given")
    attempt = f" (attempt {value['retryAttempt']})" if value.get("retryAttempt") else ""
    return f"API error: {what}{attempt}"
