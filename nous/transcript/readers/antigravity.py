"""Reader for Antigravity transcripts: conversation steps as JSON lines.

The file is `brain/<id>/.system_generated/logs/transcript.jsonl`. Nothing links a result to its call: results follow in
the order of the calls. The user's text stands in `<USER_REQUEST>`, among insertions of the editor. The approval of an
artifact comes as a comment before it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_MARKS = ("step_index", "source", "type", "status")
_NOT_TYPED = frozenset({"SYSTEM", "MODEL", "USER_IMPLICIT"})
_CANCELLED = frozenset({"CANCELED", "CANCELLED", "REJECTED"})
_SETTINGS, _MODEL = "<USER_SETTINGS_CHANGE>", "setting `Model Selection` from "
_REQUEST, _REQUEST_ENDS = "<USER_REQUEST>", "</USER_REQUEST>"
_INSERTED = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE")
_COMMENTS = re.compile(r"Comments on artifact URI: *(?P<uri>\S*)")
_APPROVED = "The user has approved this document."
_BOOKKEEPING = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n)+")
_DENIED = re.compile(r"user denied permission", re.IGNORECASE)
_FAILED = re.compile(r"(?:exited with code|failed with exit code|exit code):? -?[1-9]", re.IGNORECASE)
_HEAD = 300


class Antigravity:
    """Reads transcripts of Antigravity's command line and of its editor."""

    format = "antigravity"

    def sniff(self, sample: Sample) -> float:
        marked = sum(all(mark in record for mark in _MARKS) for record in sample.records)
        return 0.97 * marked / len(sample.records) if marked else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Conversation(notes)


READER = Antigravity()


@dataclass(slots=True)
class _Conversation(AgentReading):
    """The steps of a conversation.

    `waiting` are the calls without a result, in order. `seen` are the digests of emitted steps.
    """

    waiting: deque[str] = field(default_factory=deque[str])
    seen: set[str] = field(default_factory=set[str])

    def entries(self, record: Record) -> Iterable[Draft]:
        step = record.value
        kind, text = as_text(step.get("type")) or "no type", as_shown(step.get("content")).strip()
        number = step.get("step_index")
        own = f"step-{number}" if isinstance(number, int) else f"line-{record.line}-{record.offset}"
        mark = _mark(own, kind, text, step)
        if mark in self.seen:
            self.notes.skip("repeated step")
            return ()
        self.seen.add(mark)
        place = RecordPlace(own, record.line, record.offset, parse_time(step.get("created_at")))
        match kind:
            case "USER_INPUT":
                return self._user(step, text, place)
            case "PLANNER_RESPONSE":
                return self._planned(step, text, place)
            case "ERROR_MESSAGE":
                return (self._failed(text, place),)
            case _ if not text:
                self.notes.skip(kind)
                return ()
            case "CHECKPOINT":
                return (place.draft(Kind.SUMMARY, text),)
            case _ if step.get("source") == "SYSTEM":
                return (place.draft(Kind.SYSTEM, text, is_meta=True),)
            case _:
                return (self._result(kind, step, text, place),)

    def _user(self, step: Mapping[str, Any], text: str, place: RecordPlace) -> Iterator[Draft]:
        self._forget()
        self.notes.learn(model=_chosen_model(text))
        if as_text(step.get("source")) in _NOT_TYPED:
            yield place.draft(Kind.SYSTEM, text, is_meta=True)
            return
        before, request = _request(text)
        if comment := _COMMENTS.match(before):
            yield place.draft(Kind.DECISION, _decision(comment["uri"], before[comment.end() :]), 1)
        elif before:
            self.notes.skip("inserted context")
        if request or not before:
            yield from self.said([request], place)

    def _planned(self, step: Mapping[str, Any], text: str, place: RecordPlace) -> Iterator[Draft]:
        if thought := as_text(step.get("thinking")).strip():
            yield place._replace(id=f"{place.id}/thinking").draft(Kind.THINKING, thought)
        if text:
            yield place.draft(Kind.ASSISTANT, text)
        self._forget()
        for number, asked in enumerate(map(as_object, as_list(step.get("tool_calls"))), 1):
            own = f"{place.id}/{number}"
            self.waiting.append(own)
            given = {name: _decoded(value) for name, value in as_object(asked.get("args")).items()}
            yield self.call(as_text(asked.get("name")).removeprefix("default_api:"), given, own, place, number)

    def _failed(self, text: str, place: RecordPlace) -> Draft:
        """Return an error of the program; it may be the only result of a call."""
        if self.waiting:
            return self._answer(text, place, is_error=True)
        return place.draft(Kind.ERROR, text or "an error", is_error=True)

    def _result(self, kind: str, step: Mapping[str, Any], text: str, place: RecordPlace) -> Draft:
        text = _BOOKKEEPING.sub("", text, count=1).strip()
        status = as_text(step.get("status"))
        is_command = kind == "RUN_COMMAND" or self._next_tool() == "run_command"
        is_error = status == "ERROR" or (is_command and _FAILED.search(text[:_HEAD]) is not None)
        return self._answer(text, place, is_error=is_error, is_cancelled=status in _CANCELLED, tool=kind.lower())

    def _forget(self) -> None:
        """Drop the open calls: a new turn or answer ends them, with or without a result."""
        for own in self.waiting:
            self.calls.pop(own, None)
        self.waiting.clear()

    def _next_tool(self) -> str:
        made = self.calls.get(self.waiting[0]) if self.waiting else None
        return made.tool if made else ""

    def _answer(
        self, text: str, place: RecordPlace, *, is_error: bool, is_cancelled: bool = False, tool: str = ""
    ) -> Draft:
        is_denied = is_error and _DENIED.search(text[:_HEAD]) is not None
        own = self.waiting.popleft() if self.waiting else ""
        return self.result(
            "" if is_denied else text,
            own,
            place,
            is_error=is_error and not is_denied,
            is_rejected=is_cancelled or is_denied,
            tool=tool,
        )


def _request(text: str) -> tuple[str, str]:
    """Split *text* into the part before the user's words, and the words.

    Without request tags, all of it counts as the user's words except for the editor's insertions.
    """
    if _REQUEST not in text:
        for name in _INSERTED:
            text = text.partition(f"<{name}>")[0]
        if _COMMENTS.match(text):
            return text.strip(), ""
        return "", text.strip()
    before, _, rest = text.partition(_REQUEST)
    words = rest.rpartition(_REQUEST_ENDS)[0] if _REQUEST_ENDS in rest else rest
    return before.strip(), words.strip()


def _chosen_model(text: str) -> str:
    """Return the model that the user changed to; empty if *text* reports no such change."""
    settings = text.partition(_SETTINGS)[2]
    change = settings.partition(_MODEL)[2].partition("\n")[0]
    return change.partition(" to ")[2].partition(". ")[0].removesuffix(".")


def _decision(uri: str, comment: str) -> str:
    """Return the user's decision on an artifact, with the comment."""
    name = uri.rpartition("/")[2] or "an artifact"
    verdict = f"Approved {name}" if _APPROVED in comment else f"Commented on {name}"
    remark = comment.replace(_APPROVED, "").strip()
    return f"{verdict}: {remark}" if remark else verdict


def _decoded(value: object) -> object:
    """Decode an argument: most transcripts keep strings as JSON, with the quotes."""
    if isinstance(value, str) and value.startswith('"') and value.endswith('"'):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _mark(own: str, kind: str, text: str, step: Mapping[str, Any]) -> str:
    """Return a digest that identifies a step by its number and its content."""
    says = [kind, text, as_text(step.get("thinking"))]
    says += (as_text(as_object(asked).get("name")) for asked in as_list(step.get("tool_calls")))
    return f"{own} {blake2b(chr(0).join(says).encode(errors='replace'), digest_size=8).hexdigest()}"
