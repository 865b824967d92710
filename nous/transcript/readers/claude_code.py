"""Parse Claude Code transcripts (`~/.claude/projects/*/<session>.jsonl`) into entries.

One answer of the model comes as several records with one `message.id`. Most records of type `user` are results of
tools. Messages that the user typed while the model was working are in the queue.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import BlockReading, text_of
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, text_at
from nous.transcript.parsing.sessions import SessionReading
from nous.transcript.parsing.user_text import said_by_user
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_MARKS = ("parentUuid", "isSidechain", "leafUuid")
_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode", "custom-title", "ai-title"})
_NOT_FROM_A_PERSON = frozenset({"task-notification", "coordinator", "teammate", "hook", "agent", "channel"})
_MESSAGES = frozenset({"user", "assistant"})
# Record types that hold a title, and the field with it; the most trusted first.
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_KINDS = _MESSAGES | _TITLES.keys() | {"system", "queue-operation", "attachment", "pr-link"}
_NO_ANSWER = "No response requested."
_TASK = re.compile(r"\s*\{\s*\"task_id\"")
_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _confidence(sample: Sample) -> float:
    marked = sample.share(_is_marked)
    is_qwens = any("parts" in object_at(record, "message") for record in sample.records)
    return min(1.0, 0.5 + marked) if marked and not is_qwens else 0.0


def _is_marked(record: JsonObject) -> bool:
    if any(mark in record for mark in _MARKS) or record.get("type") == "file-history-snapshot":
        return True
    return "sessionId" in record and ("uuid" in record or str(record.get("type")) in _TYPES)


@dataclass(slots=True)
class QueuedPrompt:
    """A queued message; `is_said`: a separate prompt record has repeated it since."""

    text: str
    place: RecordPlace
    is_said: bool = False


@dataclass(slots=True)
class _Session(BlockReading):
    """The records of a session.

    A message removed from the queue went to the model, often without any other record in the file. Where another record
    exists (an attachment, or a separate prompt before or after), the same words appear twice: `given` are the words
    that the queue has emitted since the last prompt. `usage` maps answers to tokens (read, written).
    """

    titles: dict[str, str] = field(default_factory=dict[str, str])
    waiting: list[QueuedPrompt] = field(default_factory=list[QueuedPrompt])
    given: set[str] = field(default_factory=set[str])
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        if kind not in _KINDS:
            return self.skip(kind)
        uuid = text_at(value, "uuid") or f"line-{record.line}"
        if self.is_repeated(uuid):
            return ()
        place = RecordPlace(uuid, record.line, record.offset, parse_time(value.get("timestamp")))
        if kind in _MESSAGES:
            is_aside = value.get("isSidechain") is True
            if self.is_sub_agents and not is_aside:  # the file began with a sub-agent's messages, but is not its own
                self.notes.header = replace(self.notes.header, session_id=None)
                self.is_introduced = False
            if not self.is_introduced:
                self.introduce(value)
            if is_aside is not self.is_sub_agents:
                return self._sidechain(value, place)
        return self._of(kind, value, place)

    def conclude(self) -> Iterable[Draft]:
        """Yield the messages still queued at the end, which were typed but are unanswered."""
        self.title = text_at(self.titles, *_TITLES)
        SessionReading.conclude(self)
        used = self.usage.values()
        self.notes.learn(input_tokens=sum(read for read, _ in used), output_tokens=sum(written for _, written in used))
        for message in self.waiting:
            yield from self._give(message, message.place)

    def _of(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "assistant":
                return self._assistant(value, place)
            case "user":
                return self._user(value, place)
            case "system":
                return self._system(value, place)
            case "queue-operation":
                self.notes.skip("queue-operation")
                return self._moved(value, place)
            case "attachment":
                return self._attachment(value, place)
            case "pr-link":
                url = text_at(value, "prUrl")
                text = "" if url in self.seen else f"Pull request #{value.get('prNumber')}: {url}"
                self.seen.add(url)
                return self.text_or_skip(Kind.SYSTEM, text, place, "repeated pr-link")
            case "summary" if text_at(value, "leafUuid") not in self.seen:
                # Most summaries at the head of a file belong to other sessions: no record here is their leaf.
                return (place.draft(Kind.SYSTEM, f"An earlier session: {text_at(value, 'summary')}"),)
            case _:
                self.titles[kind] = text_at(value, _TITLES[kind])
                return self.skip("title")

    def _user(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = object_at(value, "message").get("content")
        if value.get("isCompactSummary") is True:
            return (place.draft(Kind.SUMMARY, text_of(content)),)
        is_meta = value.get("isMeta") is True or _is_from_a_program(value)
        is_rejected = value.get("toolDenialKind") == "user-rejected"
        used = object_at(value, "toolUseResult")
        is_decided = "answers" in used or "plan" in used
        drafts = self.of_user(content, place, is_meta=is_meta, is_rejected=is_rejected, is_decided=is_decided)
        return self._new(drafts) if self.waiting or self.given else drafts

    def _assistant(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        message = object_at(value, "message")
        content = message.get("content")
        if value.get("isApiErrorMessage") is True:
            return (place.draft(Kind.ERROR, text_of(content), is_error=True),)
        own, usage = text_at(message, "id") or place.id, object_at(message, "usage")
        if self.notes.header.model is None and not (model := text_at(message, "model")).startswith("<"):
            self.notes.learn(model=model)
        read, written = count_at(usage, *_READ_TOKENS), count_at(usage, "output_tokens")
        if (written, read) > self.usage.get(own, (0, 0))[::-1]:  # several records repeat or complete an answer's usage
            self.usage[own] = read, written
        drafts = self.of_assistant(content, place, message=own)
        if drafts and drafts[0].text == _NO_ANSWER:
            self.notes.skip("no response requested")
            return drafts[1:]
        return drafts

    def _sidechain(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        message = object_at(value, "message")
        if value.get("type") == "assistant":
            drafts = self.of_assistant(message.get("content"), place, message=text_at(message, "id") or place.id)
        else:
            drafts = self.of_user(message.get("content"), place, is_meta=value.get("isMeta") is True)
        for draft in drafts:
            draft.agent = text_at(value, "agentId") or "sidechain"
            yield draft

    def _system(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        subtype, content = str(value.get("subtype")), text_at(value, "content")
        match subtype:
            case "compact_boundary":
                about = object_at(value, "compactMetadata")
                how, tokens = about.get("trigger", "auto"), about.get("preTokens", "?")
                return (place.draft(Kind.SYSTEM, f"Conversation compacted ({how}, {tokens} tokens)"),)
            case "api_error" | "error" | "api_refusal":
                return (place.draft(Kind.ERROR, _api_error(value), is_error=True),)
            case "local_command" if content:
                return self.of_user(content, place)
            case "away_summary" if content:
                return (place.draft(Kind.SYSTEM, content),)
            case _:
                return self.skip(f"system: {subtype}")

    def _attachment(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        attachment = object_at(value, "attachment")
        if attachment.get("type") != "queued_command":
            return self.skip(f"attachment: {attachment.get('type')}")
        is_task = attachment.get("commandMode") == "task-notification"
        is_meta = is_task or attachment.get("isMeta") is True or _is_from_a_program(attachment)
        return self._new(self.of_user(attachment.get("prompt"), place, is_meta=is_meta))

    def _moved(self, operation: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        text = text_of(operation.get("content"))
        match operation.get("operation"):
            case "enqueue":
                self.waiting.append(QueuedPrompt(text, place))
            case "remove" if self.waiting:
                return self._give(self._taken(text), place)
            case "dequeue" if self.waiting:
                self._taken(text)
            case "popAll":
                self.waiting.clear()
            case _:
                pass
        return ()

    def _taken(self, text: str) -> QueuedPrompt:
        """Take *text* out of the queue; its first message if the record does not name one."""
        named = (index for index, message in enumerate(self.waiting) if text and message.text == text)
        return self.waiting.pop(next(named, 0))

    def _give(self, message: QueuedPrompt, place: RecordPlace) -> Iterable[Draft]:
        text, said = message.text, said_by_user(message.text)
        is_bare_command = text.startswith("/") and " " not in text.strip()
        if said.kind is not Kind.USER or is_bare_command or _TASK.match(text) or message.is_said:
            return ()
        self.given.add(said.text)
        return (place.draft(Kind.USER, said.text),)

    def _new(self, drafts: list[Draft]) -> Iterator[Draft]:
        """Yield *drafts* without the user's words that the queue has already emitted."""
        for draft in drafts:
            if draft.kind is not Kind.USER:
                yield draft
            elif draft.text in self.given:
                self.given.discard(draft.text)
                self.notes.skip("repeated from the queue")
            else:
                self.given.clear()
                waiting = (message for message in self.waiting if not message.is_said)
                if again := next((one for one in waiting if said_by_user(one.text).text == draft.text), None):
                    again.is_said = True
                yield draft


READER = FormatReader("claude_code", _confidence, _Session)


def _is_from_a_program(value: JsonObject) -> bool:
    return str(object_at(value, "origin").get("kind")) in _NOT_FROM_A_PERSON


def _api_error(value: JsonObject) -> str:
    error = object_at(value, "error")
    said = (value.get("content"), value.get("apiRefusalExplanation"), error.get("message"), error.get("status"))
    what = next((str(text) for text in said if text), "no reason given")
    attempt = f" (attempt {value['retryAttempt']})" if value.get("retryAttempt") else ""
    return f"API error: {what}{attempt}"
