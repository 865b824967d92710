"""Reader for qbit transcripts: `transcript.json`.

It is a pretty-printed array, JSON lines, or one after the other. Times are in ISO form or in milliseconds. Each event
has a `type`, with its fields beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading, call, rejection
from nous.transcript.parsing.values import as_count, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_SURE_TYPES = frozenset({"started", "user_message", "tool_request", "tool_result", "completed"})
_BY_SUB_AGENTS = frozenset({"sub_agent_tool_request", "sub_agent_tool_result"})
_STAMP = "_timestamp"
_USER = re.compile(r"\bthe user\b|\bby user\b|^user (?:denied|rejected|declined|cancelled)", re.IGNORECASE)


_TEMPLATES = {
    "subtask_user_input": (Kind.USER, "{input}"),
    "ask_human_request": (Kind.ASSISTANT, "{question}"),
    "subtask_waiting_for_input": (Kind.ASSISTANT, "{prompt}"),
    "sub_agent_started": (Kind.SUB_AGENT, "Started {agent_name}: {task}"),
    "sub_agent_completed": (Kind.SUB_AGENT, "{response}"),
    "subtask_completed": (Kind.SUB_AGENT, "{result}"),
    "workflow_completed": (Kind.SUB_AGENT, "{final_output}"),
    "compaction_completed": (Kind.SUMMARY, "{summary}"),
    "error": (Kind.ERROR, "{message}"),
    "sub_agent_error": (Kind.ERROR, "Sub-agent {agent_id}: {error}"),
    "workflow_error": (Kind.ERROR, "{error}"),
    "compaction_failed": (Kind.ERROR, "{error}"),
    "loop_blocked": (Kind.ERROR, "{message}"),
    "max_iterations_reached": (Kind.ERROR, "{message}"),
}
"""Events with a text: its entry kind, and its template over the event's fields."""


class Qbit:
    """Reads files of qbit and its forks."""

    format = "qbit"

    def sniff(self, sample: Sample) -> float:
        stamped = sum(_STAMP in record and "type" in record for record in sample.records)
        if not stamped:
            return 0.0
        known = any(str(record.get("type")) in _SURE_TYPES for record in sample.records)
        return (0.9 if known else 0.5) * stamped / len(sample.records)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Qbit()


@dataclass(slots=True)
class _Session(AgentReading):
    """The events of a session; tool calls of a sub-agent may be in a separate file."""

    is_sub_agents: bool | None = None
    asked: set[str] = field(default_factory=set[str])
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        event = record.value
        kind = str(event.get("type", "no type"))
        place = RecordPlace(
            f"line-{record.line}-{record.offset}", record.line, record.offset, parse_time(event.get(_STAMP))
        )
        if self.is_sub_agents is None:
            self.is_sub_agents = kind in _BY_SUB_AGENTS
        match kind:
            case "user_message":
                return self.said([as_text(event.get("content"))], place)
            case "tool_request" | "tool_approval_request" | "tool_auto_approved" | "server_tool_started":
                return self._requested(kind, event, place)
            case "tool_result":
                return (self._result(event, place),)
            case "sub_agent_tool_request" | "sub_agent_tool_result":
                return self._by_sub_agent(kind, event, place)
            case "tool_denied":
                return (self._denied(event, place),)
            case "completed":
                return self._completed(event, place)
            case "ask_human_response":
                return self._answered(event, place)
            case _ if kind in _TEMPLATES:
                return self._from_template(kind, event, place)
            case _:
                self.notes.skip(kind)
                return ()

    def _from_template(self, kind: str, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        whose, words = _TEMPLATES[kind]
        if text := words.format_map(_Fields(event)).strip():
            return (place.draft(whose, text, is_error=whose is Kind.ERROR),)
        self.notes.skip(f"empty {kind}")
        return ()

    def _requested(self, kind: str, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a call, once.

        An approval repeats the request. Some calls appear only as an approval.
        """
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        if kind == "tool_approval_request":
            self.asked.add(request)
        if "approv" in kind and (request in self.calls or not tool):
            self.notes.skip(kind)
            return ()
        return (self.call(tool, as_object(event.get("args", event.get("input"))), request, place),)

    def _result(self, event: Mapping[str, Any], place: RecordPlace) -> Draft:
        failed = event.get("success") is False
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        self.calls.pop(request, None)
        return place.draft(
            Kind.ERROR if failed else Kind.TOOL_RESULT,
            as_shown(event.get("result")),
            tool=tool or None,
            call_id=request or None,
            is_error=failed,
        )

    def _by_sub_agent(self, kind: str, event: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        is_call = kind == "sub_agent_tool_request"
        for draft in self._requested(kind, event, place) if is_call else (self._result(event, place),):
            draft.agent = None if self.is_sub_agents else as_text(event.get("agent_id")) or "sub-agent"
            yield draft

    def _denied(self, event: Mapping[str, Any], place: RecordPlace) -> Draft:
        """Return a rejection by the user, if the user was asked; else a refusal by policy."""
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        made = self.calls.get(request) or call(tool, as_object(event.get("args")))
        reason = as_text(event.get("reason"))
        is_the_users = request in self.asked or _USER.search(reason) is not None
        text = rejection(reason, made) if is_the_users else f"Not allowed: {made.summary} ({reason})"
        kind = Kind.DECISION if is_the_users else Kind.SYSTEM
        return place.draft(kind, text, tool=tool or None, call_id=request or None)

    def _completed(self, event: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        self.input_tokens += as_count(event.get("input_tokens"))
        self.output_tokens += as_count(event.get("output_tokens"))
        if reasoning := as_text(event.get("reasoning")).strip():
            yield place.draft(Kind.THINKING, reasoning, 1)
        if response := as_text(event.get("response")).strip():
            yield place.draft(Kind.ASSISTANT, response)
        else:
            self.notes.skip("empty completed")

    def _answered(self, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        if words := as_text(event.get("response")).strip():
            return (place.draft(Kind.USER, words),)
        if event.get("skipped") is True:
            return (place.draft(Kind.DECISION, "Declined to answer"),)
        self.notes.skip("empty answer")
        return ()

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return ()


class _Fields(dict[str, Any]):
    """Event fields as text; missing ones are empty."""

    def __getitem__(self, name: str) -> str:
        return as_text(self.get(name))
