"""Reader for Claude Code transcripts: `~/.claude/projects/<project>/<session>.jsonl`.

One answer of the model comes as several records with one `message.id`. Most records of type `user` are results of
tools. Messages that the user typed while the model was working are in the queue.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import BlockReading, text_of
from nous.transcript.parsing.claude_code import ClaudeSessionInfo, PromptQueue
from nous.transcript.parsing.values import as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_MARKS = ("parentUuid", "isSidechain", "leafUuid")
_TYPES = frozenset({"file-history-snapshot", "queue-operation", "permission-mode", "custom-title", "ai-title"})
_HEAD = 700
_PROGRESS = b'"type":"progress"'
_MESSAGE = b'"message":'
_GLUE = b'}{"'
_SNAPSHOT = b'{"type":"file-history-snapshot"'
_NOT_FROM_A_PERSON = frozenset({"task-notification", "coordinator", "teammate", "hook", "agent", "channel"})
_MESSAGES = frozenset({"user", "assistant"})
_TITLES = frozenset({"custom-title", "ai-title"})
_KINDS = _MESSAGES | _TITLES | {"system", "queue-operation", "attachment", "summary", "pr-link"}
_NO_ANSWER = "No response requested."


JsonObject = Mapping[str, Any]


class ClaudeCode:
    """Reads files of Claude Code 1.0 to 2.1."""

    format = "claude_code"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        is_qwens = any("parts" in as_object(record.get("message")) for record in sample.records)
        return min(1.0, 0.5 + marked / len(sample.records)) if marked and not is_qwens else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = ClaudeCode()


def _is_marked(record: Mapping[str, Any]) -> bool:
    if any(mark in record for mark in _MARKS) or record.get("type") == "file-history-snapshot":
        return True
    return "sessionId" in record and ("uuid" in record or str(record.get("type")) in _TYPES)


@dataclass(slots=True)
class _Session(BlockReading):
    """The records of a session.

    `seen` are the ids (uuid) of records read so far. `links` are the pull requests already emitted.
    """

    about: ClaudeSessionInfo = field(default_factory=ClaudeSessionInfo)
    queue: PromptQueue = field(default_factory=PromptQueue)
    seen: set[str] = field(default_factory=set[str])
    links: set[str] = field(default_factory=set[str])

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        if kind not in _KINDS:
            self.notes.skip(kind)
            return ()
        uuid = as_text(value.get("uuid")) or f"line-{record.line}"
        if uuid in self.seen:
            self.notes.skip("repeated record")
            return ()
        self.seen.add(uuid)
        if kind in _MESSAGES and (self.about.is_sub_agents is None or self._is_main_session(value)):
            self.about.introduce(value, self.notes)
        place = RecordPlace(uuid, record.line, record.offset, parse_time(value.get("timestamp")))
        if kind in _MESSAGES and (value.get("isSidechain") is True) is not self.about.is_sub_agents:
            return self._sidechain(value, place)
        return self._of(kind, value, place)

    def _is_main_session(self, value: JsonObject) -> bool:
        """Return whether a file that began with a sub-agent's messages has one of its own session."""
        return self.about.is_sub_agents is True and value.get("isSidechain") is not True

    @staticmethod
    def pass_over(line: bytes, /) -> str | None:
        """Return the reason to skip a line unparsed: two of three records are noise.

        Noise is recognized by the beginning of the line. A message that quotes such a record is not skipped.
        """
        found = line.find(_PROGRESS, 0, _HEAD)
        is_progress = found >= 0 and line.find(_MESSAGE, 0, found) < 0
        if not (is_progress or line.startswith(_SNAPSHOT)) or _GLUE in line:
            return None
        return "progress" if is_progress else "file-history-snapshot"

    def conclude(self) -> Iterable[Draft]:
        self.about.conclude(self.notes)
        return self.queue.left()

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
                return filter(None, [self.queue.moved(value, place)])
            case "attachment":
                return self._attachment(value, place)
            case "summary":
                return self._summary(value, place)
            case "pr-link":
                return self._link(value, place)
            case _:
                return self._title(value)

    def _user(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = as_object(value.get("message")).get("content")
        if value.get("isCompactSummary") is True:
            return (place.draft(Kind.SUMMARY, text_of(content)),)
        is_meta = value.get("isMeta") is True or _is_from_a_program(value)
        is_rejected = value.get("toolDenialKind") == "user-rejected"
        used = as_object(value.get("toolUseResult"))
        is_decided = "answers" in used or "plan" in used
        drafts = self.of_user(content, place, is_meta=is_meta, is_rejected=is_rejected, is_decided=is_decided)
        return self._new(drafts) if any(draft.kind is Kind.USER for draft in drafts) else drafts

    def _assistant(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        message = as_object(value.get("message"))
        content = message.get("content")
        if value.get("isApiErrorMessage") is True:
            return (place.draft(Kind.ERROR, text_of(content), is_error=True),)
        own = as_text(message.get("id")) or place.id
        self.about.charge(own, message, self.notes)
        drafts = self.of_assistant(content, place, message=own)
        if drafts and drafts[0].text == _NO_ANSWER:
            self.notes.skip("no response requested")
            return drafts[1:]
        return drafts

    def _sidechain(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts from a conversation other than the file's own: one inside a sub-agent."""
        message = as_object(value.get("message"))
        if value.get("type") == "assistant":
            drafts = self.of_assistant(message.get("content"), place, message=as_text(message.get("id")) or place.id)
        else:
            drafts = self.of_user(message.get("content"), place, is_meta=value.get("isMeta") is True)
        for draft in drafts:
            draft.agent = as_text(value.get("agentId")) or "sidechain"
            yield draft

    def _system(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        subtype, content = str(value.get("subtype")), as_text(value.get("content"))
        match subtype:
            case "compact_boundary":
                return (place.draft(Kind.SYSTEM, _compaction(value)),)
            case "api_error" | "error" | "api_refusal":
                return (place.draft(Kind.ERROR, _api_error(value), is_error=True),)
            case "local_command" if content:
                return self.of_user(content, place)
            case "away_summary" if content:
                return (place.draft(Kind.SYSTEM, content),)
            case _:
                self.notes.skip(f"system: {subtype}")
                return ()

    def _attachment(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        attachment = as_object(value.get("attachment"))
        if attachment.get("type") != "queued_command":
            self.notes.skip(f"attachment: {attachment.get('type')}")
            return ()
        is_task = attachment.get("commandMode") == "task-notification"
        is_meta = is_task or attachment.get("isMeta") is True or _is_from_a_program(attachment)
        return self._new(self.of_user(attachment.get("prompt"), place, is_meta=is_meta))

    def _new(self, drafts: list[Draft]) -> Iterable[Draft]:
        """Yield *drafts* without the user's words that the queue has already emitted."""
        for draft in drafts:
            if draft.kind is Kind.USER and self.about.is_sub_agents:
                draft.kind = Kind.SUB_AGENT  # the prompt is from the agent that started this one
                yield draft
            elif draft.kind is Kind.USER and self.queue.has_given(draft.text):
                self.notes.skip("repeated from the queue")
            else:
                yield draft

    def _summary(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a summary, or store it as the title.

        Most summaries at the head of a file belong to other sessions: none of the file's records is their leaf.
        """
        if as_text(value.get("leafUuid")) in self.seen:
            return self._title(value)
        return (place.draft(Kind.SYSTEM, f"An earlier session: {as_text(value.get('summary'))}"),)

    def _title(self, value: JsonObject) -> Iterable[Draft]:
        self.about.title(value)
        self.notes.skip("title")
        return ()

    def _link(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        url = as_text(value.get("prUrl"))
        if url in self.links:
            self.notes.skip("repeated pr-link")
            return ()
        self.links.add(url)
        return (place.draft(Kind.SYSTEM, f"Pull request #{value.get('prNumber')}: {url}"),)


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
