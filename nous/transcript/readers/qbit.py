"""qbit: `transcript.json`, as a pretty array, as JSON lines, or as one after the other; times in ISO or milliseconds.

An event is tagged by its `type`; its fields stand beside the tag.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, Notes
from nous.transcript.parsing.conversation import AgentReading, call, rejection
from nous.transcript.parsing.values import as_count, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Place, Reading, Sample

_SURE_TYPES = frozenset({"started", "user_message", "tool_request", "tool_result", "completed"})
_BY_SUB_AGENTS = frozenset({"sub_agent_tool_request", "sub_agent_tool_result"})
_STAMP = "_timestamp"
_USER = re.compile(r"\bthe user\b|\bby user\b|^user (?:denied|rejected|declined|cancelled)", re.IGNORECASE)


_SAID = {
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
"""The events that are said by somebody: by whom, and in which of their fields."""


class Qbit:
    """Reads what qbit and its forks wrote."""

    format = "qbit"

    def sniff(self, sample: Sample) -> float:
        stamped = sum(_STAMP in record and "type" in record for record in sample.records)
        if not stamped:
            return 0.0
        known = any(str(record.get("type")) in _SURE_TYPES for record in sample.records)
        return (0.9 if known else 0.5) * stamped / len(sample.records)

    def begin(self, notes: Notes) -> Reading:
        return _Session(notes)


READER = Qbit()


@dataclass(slots=True)
class _Session(AgentReading):
    """The events of a session, one after another. What a sub-agent does with tools may have a file of its own."""

    is_sub_agents: bool | None = None
    asked: set[str] = field(default_factory=set[str])
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        event = record.value
        kind = str(event.get("type", "no type"))
        place = Place(f"line-{record.line}-{record.offset}", record.line, record.offset, parse_time(event.get(_STAMP)))
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
            case _ if kind in _SAID:
                return self._told(kind, event, place)
            case _:
                self.notes.skip(kind)
                return ()

    def _told(self, kind: str, event: Mapping[str, Any], place: Place) -> Iterable[Draft]:
        whose, words = _SAID[kind]
        if text := words.format_map(_Fields(event)).strip():
            return (place.draft(whose, text, is_error=whose is Kind.ERROR),)
        self.notes.skip(f"empty {kind}")
        return ()

    def _requested(self, kind: str, event: Mapping[str, Any], place: Place) -> Iterable[Draft]:
        """A call is asked for once, though its approval repeats it; some are told by their approval alone."""
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        if kind == "tool_approval_request":
            self.asked.add(request)
        if "approv" in kind and (request in self.calls or not tool):
            self.notes.skip(kind)
            return ()
        return (self.call(tool, as_object(event.get("args", event.get("input"))), request, place),)

    def _result(self, event: Mapping[str, Any], place: Place) -> Draft:
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

    def _by_sub_agent(self, kind: str, event: Mapping[str, Any], place: Place) -> Iterator[Draft]:
        is_call = kind == "sub_agent_tool_request"
        for draft in self._requested(kind, event, place) if is_call else (self._result(event, place),):
            draft.agent = None if self.is_sub_agents else as_text(event.get("agent_id")) or "sub-agent"
            yield draft

    def _denied(self, event: Mapping[str, Any], place: Place) -> Draft:
        """The user's no, if the user was asked; otherwise it was a policy that said no."""
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        made = self.calls.get(request) or call(tool, as_object(event.get("args")))
        reason = as_text(event.get("reason"))
        is_the_users = request in self.asked or _USER.search(reason) is not None
        told = rejection(reason, made) if is_the_users else f"Not allowed: {made.summary} ({reason})"
        kind = Kind.DECISION if is_the_users else Kind.SYSTEM
        return place.draft(kind, told, tool=tool or None, call_id=request or None)

    def _completed(self, event: Mapping[str, Any], place: Place) -> Iterator[Draft]:
        self.input_tokens += as_count(event.get("input_tokens"))
        self.output_tokens += as_count(event.get("output_tokens"))
        if reasoning := as_text(event.get("reasoning")).strip():
            yield place.draft(Kind.THINKING, reasoning, 1)
        if response := as_text(event.get("response")).strip():
            yield place.draft(Kind.ASSISTANT, response)
        else:
            self.notes.skip("empty completed")

    def _answered(self, event: Mapping[str, Any], place: Place) -> Iterable[Draft]:
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
    """The fields of an event as text, the missing ones empty."""

    def __getitem__(self, name: str) -> str:
        return as_text(self.get(name))
