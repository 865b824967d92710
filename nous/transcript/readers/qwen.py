"""Reader for Qwen Code transcripts: `~/.qwen/projects/<project>/chats/<session>.jsonl`.

Records have the form of Claude Code's, messages that of the Gemini API. One answer may come as several records with one
`uuid`. The user's text is in `systemPayload.displayText`, beside the text that the model got instead.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.gemini import GeminiPartReading, others_in, parts_in, responses_in, texts_in
from nous.transcript.parsing.values import as_count, as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_MESSAGES = frozenset({"user", "assistant", "tool_result"})
_TYPED = frozenset({"", "mid_turn_user_message", "realtime_message"})
"""Subtypes of user records with a person's words; other subtypes are prompts of a program."""

_SNAPSHOT = "<state_snapshot>"
_ENOUGH = 0.5

JsonObject = Mapping[str, Any]


class Qwen:
    """Reads files of Qwen Code since it keeps lines; older ones are in Gemini CLI's format."""

    format = "qwen"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        if not marked:
            return 0.0
        return 1.0 if marked >= _ENOUGH * len(sample.records) else 0.5

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Qwen()


def _is_marked(record: JsonObject) -> bool:
    is_record = "uuid" in record and "sessionId" in record
    return is_record and ("systemPayload" in record or "parts" in as_object(record.get("message")))


@dataclass(slots=True)
class _Session(GeminiPartReading):
    """The records of a session.

    `seen` are the digests of emitted messages. `usage` maps ids of answers to tokens (read, written). `command` is a
    slash command whose text went to the model, and so comes again as a prompt.
    """

    is_sub_agents: bool | None = None
    title: str = ""
    command: str = ""
    seen: set[str] = field(default_factory=set[str])
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = as_text(value.get("type")) or "no type"
        own = as_text(value.get("uuid")) or f"line-{record.line}-{record.offset}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        if kind == "system":
            return self._system(value, place)
        if kind not in _MESSAGES:
            self.notes.skip(kind)
            return ()
        self._introduce(value)
        mark = _mark(own, kind, value.get("message"))
        if mark in self.seen:
            self.notes.skip("repeated record")
            return ()
        self.seen.add(mark)
        return self._spoken(kind, value, place)

    def conclude(self) -> Iterable[Draft]:
        read = sum(tokens for tokens, _ in self.usage.values())
        written = sum(tokens for _, tokens in self.usage.values())
        self.notes.learn(title=self.title, input_tokens=read, output_tokens=written)
        return ()

    def _introduce(self, value: JsonObject) -> None:
        """Learn the session, directory and branch from the first message.

        A file belongs to the session of that message.
        """
        if self.is_sub_agents is not None:
            return
        self.is_sub_agents = value.get("isSidechain") is True
        session, agent = as_text(value.get("sessionId")), as_text(value.get("agentId"))
        is_named_apart = self.is_sub_agents and agent
        forked = as_text(as_object(value.get("forkedFrom")).get("sessionId"))
        self.notes.learn(
            session_id=f"agent-{agent}" if is_named_apart else session,
            parent_session_id=session if is_named_apart else forked,
            cwd=as_text(value.get("cwd")),
            git_branch=as_text(value.get("gitBranch")),
        )

    def _spoken(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        match kind:
            case "assistant":
                self._charge(value, place)
                drafts = self.of_model(as_object(value.get("message")).get("parts"), place)
            case "tool_result":
                drafts = self._results(value, place)
            case _:
                drafts = self._user(value, place)
        is_aside = (value.get("isSidechain") is True) is not self.is_sub_agents
        for draft in drafts:
            if is_aside:
                draft.agent = as_text(value.get("agentId")) or "sidechain"
            yield draft

    def _user(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        parts = as_object(value.get("message")).get("parts")
        for number, response in enumerate(responses_in(parts)):
            yield from self.of_response(response, place, number)
        subtype, provenance = as_text(value.get("subtype")), as_text(value.get("provenance")) or "real_user"
        shown = as_text(as_object(value.get("systemPayload")).get("displayText")).strip()
        texts = [shown] if shown else texts_in(parts)
        if subtype not in _TYPED or provenance != "real_user":
            yield from (place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(texts))
            return
        for name in others_in(parts):
            self.notes.skip(name)
        command, self.command = self.command, ""
        if command and (not shown or shown == command):
            self.notes.skip("prompt of a slash command")
        elif texts:
            yield from self.of_prompt(texts, place, is_delegated=value.get("isSidechain") is True)
        else:
            self.notes.skip("empty message")

    def _results(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        reported = as_object(value.get("toolCallResult"))
        status = as_text(reported.get("status"))
        parts = as_object(value.get("message")).get("parts")
        for name in [*others_in(parts), *("text beside a result" for _ in texts_in(parts))]:
            self.notes.skip(name)
        for number, response in enumerate(responses_in(parts)):
            answer = response
            if not response.get("response"):
                answer = {**response, "response": {"output": as_shown(reported.get("resultDisplay"))}}
            yield from self.of_response(answer, place, number, status=status)

    def _system(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        subtype, payload = as_text(value.get("subtype")) or "no subtype", as_object(value.get("systemPayload"))
        match subtype:
            case "slash_command":
                yield from self._slash_command(payload, place)
            case "chat_compression":
                yield place.draft(*_compression(payload))
            case "rewind":
                yield place.draft(Kind.SYSTEM, "Rewound to an earlier point")
            case "ui_telemetry" if error := as_text(as_object(payload.get("uiEvent")).get("error_message")):
                yield place.draft(Kind.ERROR, f"API error: {error}", is_error=True)
            case "background_task_completed" if text := as_text(payload.get("displayText")):
                yield place.draft(Kind.SUB_AGENT, text)
            case "custom_title":
                self.title = as_text(payload.get("customTitle")) or self.title
                self.notes.skip("title")
            case "parent_session":
                self.notes.learn(parent_session_id=as_text(payload.get("parentSessionId")))
                self.notes.skip("system: parent_session")
            case _:
                self.notes.skip(f"system: {subtype}")

    def _slash_command(self, payload: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        command = as_text(payload.get("rawCommand")).strip()
        is_result = payload.get("phase") == "result" or "outputHistoryItems" in payload
        if is_result or payload.get("hiddenInvocation") is True or not command:
            self.notes.skip("result of a slash command" if is_result else "hidden slash command")
            return ()
        self.command = command if payload.get("sentToModel") is True else ""
        return self.of_prompt([command], place)

    def _charge(self, value: JsonObject, place: RecordPlace) -> None:
        self.notes.learn(model=as_text(value.get("model")))
        usage = as_object(value.get("usageMetadata"))
        if not usage:
            return
        read = as_count(usage.get("promptTokenCount"))
        written = as_count(usage.get("totalTokenCount")) - read
        self.usage[place.id] = read, written if written > 0 else as_count(usage.get("candidatesTokenCount"))


def _compression(payload: JsonObject) -> tuple[Kind, str]:
    """Return the summary that a compression leaves, or else a note that there was one."""
    history = [as_object(content) for content in as_list(payload.get("compressedHistory"))]
    texts = [text for content in history for text in texts_in(content.get("parts"))]
    summary = next((text for text in texts if _SNAPSHOT in text), next(iter(texts), ""))
    if summary:
        return Kind.SUMMARY, summary
    tokens = as_count(as_object(payload.get("info")).get("originalTokenCount"))
    return Kind.SYSTEM, f"Conversation compacted ({tokens or '?'} tokens)"


def _mark(own: str, kind: str, message: object) -> str:
    """Return a digest that identifies a message by its uuid, its words and its calls."""
    says = [kind]
    for part in parts_in(as_object(message).get("parts")):
        about = as_object(part.get("functionCall")) or as_object(part.get("functionResponse"))
        says += (*part, as_text(part.get("text")), as_text(about.get("id")), as_text(about.get("name")))
    return f"{own} {blake2b(chr(0).join(says).encode(errors='replace'), digest_size=8).hexdigest()}"
