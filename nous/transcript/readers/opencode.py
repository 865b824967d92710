"""Reader for OpenCode sessions: a tree of small files, or the output of `opencode export`.

The tree is below `~/.local/share/opencode/storage/`. Both are read as one document:
`{info: session, messages: [{info: message, parts: []}]}`. A list of messages, a single file of the tree, and the lines
of `opencode run --format json` are read too, as far as they name the speaker.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.opencode import (
    LEFT_OUT,
    TOO_MUCH,
    UNREADABLE,
    OpenCodePartReading,
    error_text,
    gather_session,
    tokens_of,
)
from nous.transcript.parsing.values import as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_UNTITLED = ("New session - ", "Child session - ")
_ABORTED = "MessageAbortedError"
_ROLES = frozenset({"user", "assistant"})
_LEGACY_PART = {"id", "type", "text", "time"}
"""All keys of a part in an early release, where the part's folder named its message."""


class OpenCode:
    """Reads whole sessions and parts of them."""

    format = "opencode"

    def sniff(self, sample: Sample) -> float:
        sure = sum(map(_confidence, sample.records))
        return sure / len(sample.records) if sample.records else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)

    def gather(self, path: Path) -> bytes | None:
        return gather_session(path)


READER = OpenCode()


def _confidence(record: Mapping[str, Any]) -> float:
    """Return the confidence, from 0 to 1, that *record* is OpenCode's."""
    info = as_object(record.get("info"))
    if info and isinstance(record.get("messages"), list):
        inside = [as_object(message) for message in as_list(record["messages"])]
        return 0.95 if all("info" in message and "parts" in message for message in inside) else 0.0
    if isinstance(record.get("parts"), list) and str(info.get("role")) in _ROLES:
        return 0.95
    if "projectID" in record and "id" in record and "time" in record:
        return 0.9
    if "sessionID" in record and (_is_message(record) or as_object(record.get("part"))):
        return 0.9
    if "messageID" in record and "id" in record and "type" in record:
        return 0.85
    return 0.3 if set(record) == _LEGACY_PART and record["type"] in ("text", "reasoning") else 0.0


def _is_message(record: Mapping[str, Any]) -> bool:
    return str(record.get("role")) in _ROLES and "id" in record and "content" not in record


@dataclass(slots=True)
class _Session(OpenCodePartReading):
    """A session; if it has a parent, user messages are from the agent that called it."""

    messages: int = 0
    is_sub_agents: bool = False
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        place = RecordPlace(f"line-{record.line}", record.line, record.offset, parse_time(value.get("timestamp")))
        info = as_object(value.get("info"))
        if isinstance(value.get("messages"), list):
            self._introduce(info, value)
            for message in map(as_object, as_list(value["messages"])):
                yield from self._message(as_object(message.get("info")), message.get("parts"), place)
        elif "parts" in value:
            yield from self._message(info, value["parts"], place)
        elif _is_message(value):
            yield from self._message(value, [], place)
        elif "projectID" in value:
            self._introduce(value, {})
            self.notes.skip("session without its messages")
        else:
            yield from self._loose(value, place)

    def conclude(self) -> Iterable[Draft]:
        """Learn the token totals, the larger of two sums.

        Steps and messages report the same tokens. Old sessions report them in only one of the two.
        """
        read, written = max((self.step_input, self.step_output), (self.input_tokens, self.output_tokens))
        self.notes.learn(input_tokens=read, output_tokens=written)
        return ()

    def _introduce(self, info: Mapping[str, Any], document: Mapping[str, Any]) -> None:
        title = as_text(info.get("title"))
        self.is_sub_agents = bool(as_text(info.get("parentID")))
        self.notes.learn(
            session_id=as_text(info.get("id")),
            parent_session_id=as_text(info.get("parentID")),
            title="" if title.startswith(_UNTITLED) else title,
            cwd=as_text(info.get("directory")),
        )
        left_out = as_object(document.get(LEFT_OUT))
        for reason in (TOO_MUCH, UNREADABLE):
            if times := as_count(left_out.get(reason)):
                self.notes.skipped[reason] += times

    def _message(self, info: Mapping[str, Any], parts: object, within: RecordPlace) -> Iterator[Draft]:
        self.messages += 1
        own = as_text(info.get("id")) or f"message-{self.messages}"
        time = parse_time(as_object(info.get("time")).get("created"))
        place = within._replace(id=own, time=time or within.time)
        given = [as_object(part) for part in as_list(parts)]
        model = as_text(info.get("modelID")) or as_text(as_object(info.get("model")).get("modelID"))
        self.notes.learn(session_id=as_text(info.get("sessionID")), model=model)
        match info.get("role"):
            case "user" if given:
                yield from self.of_user(given, place, is_delegated=self.is_sub_agents)
            case "user":
                yield from self._titled(info, place)
            case "assistant":
                yield from self._answer(info, given, place)
            case role:
                self.notes.skip(f"message of {role}")

    def _answer(self, info: Mapping[str, Any], parts: list[dict[str, Any]], place: RecordPlace) -> Iterator[Draft]:
        read, written = tokens_of(info)
        self.input_tokens, self.output_tokens = self.input_tokens + read, self.output_tokens + written
        for part in parts:
            yield from self.of_model(part, place.id, place, is_summary=info.get("summary") is True)
        if error := as_object(info.get("error")):
            yield _failure(error, place._replace(id=f"{place.id}-error"))
        elif not parts:
            self.notes.skip("message without parts")

    def _titled(self, info: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        """Yield a prompt of which only the title is left, which the program gave it."""
        summary = as_object(info.get("summary"))
        if title := as_text(summary.get("title")) or as_text(summary.get("body")):
            yield place.draft(Kind.SYSTEM, f"A prompt of which only the title is left: {title}")
        else:
            self.notes.skip("message without parts")

    def _loose(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return drafts of a part without its message.

        In the lines of a run its text is the model's. In a file the author is unknown, so text is skipped.
        """
        self.notes.learn(session_id=as_text(value.get("sessionID")))
        part = as_object(value.get("part"))
        if error := as_object(value.get("error")):
            return (_failure(error, place),)
        if part:
            return self.of_model(part, as_text(part.get("messageID")) or place.id, place)
        if "messageID" not in value or value.get("type") == "text":
            self.notes.skip("text without its message" if "messageID" in value else str(value.get("type", "no type")))
            return ()
        return self.of_model(value, place.id, place)


def _failure(error: Mapping[str, Any], place: RecordPlace) -> Draft:
    if error.get("name") == _ABORTED:
        return place.draft(Kind.SYSTEM, "Interrupted by the user")
    return place.draft(Kind.ERROR, error_text(error), is_error=True)
