"""qbit: `transcript.json`, as a pretty array, as JSON lines, or as one after the other; times in ISO or milliseconds.

An event is tagged by its `type`; its fields stand beside the tag.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import orjson

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Place
from nous.transcript.fields import as_object, as_text
from nous.transcript.model import Entry, Kind
from nous.transcript.records import Record, records
from nous.transcript.results import Call, call, rejection
from nous.transcript.timestamps import parse_time
from nous.transcript.words import said_by_user

_SURE_TYPES = frozenset({"started", "user_message", "tool_request", "tool_result", "completed"})
_STAMP = "_timestamp"


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

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        session = _Session(notes)
        for record in records(stream, notes):
            yield from session.entries(record)


READER = Qbit()


class _Session:
    """What has to be remembered from one event to the next: calls until their results come."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[str, Call] = {}

    def entries(self, record: Record) -> Iterator[Entry]:
        event = record.value
        kind = str(event.get("type", "no type"))
        place = Place(f"line-{record.line}-{record.offset}", record.line, record.offset, parse_time(event.get(_STAMP)))
        if kind == "user_message":
            yield from self._typed(event, place)
        elif kind in _SAID:
            whose, words = _SAID[kind]
            yield from self._said(whose, words.format_map(_Fields(event)), event, place)
        elif kind in {"tool_request", "tool_approval_request", "server_tool_started"}:
            yield from self._call(kind, event, place)
        elif kind == "tool_result":
            yield self._result(event, place)
        elif kind == "tool_denied":
            yield self._denied(event, place)
        elif kind == "completed":
            yield from self._completed(event, place)
        elif kind == "ask_human_response":
            yield self._answered(event, place)
        else:
            self._notes.skip(kind)

    def _typed(self, event: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        said = said_by_user(as_text(event.get("content")))
        if said.kind is None:
            self._notes.skip(said.text)
        else:
            yield place.entry(said.kind, said.text)

    def _said(self, kind: Kind, text: str, event: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        if text.strip():
            yield place.entry(kind, text.strip(), is_error=kind is Kind.ERROR)
        else:
            self._notes.skip(f"empty {event['type']}")

    def _call(self, kind: str, event: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        """A call is asked for once, though the request for approval repeats it."""
        request = as_text(event.get("request_id"))
        if kind == "tool_approval_request" and request in self._calls:
            self._notes.skip(kind)
            return
        tool, tool_input = as_text(event.get("tool_name")), as_object(event.get("args", event.get("input")))
        self._calls[request] = made = call(tool, tool_input)
        yield place.entry(
            Kind.TOOL_CALL, made.summary, tool=tool or None, tool_input=tool_input, call_id=request or None
        )

    def _result(self, event: Mapping[str, Any], place: Place) -> Entry:
        failed = event.get("success") is False
        return place.entry(
            Kind.ERROR if failed else Kind.TOOL_RESULT,
            _shown(event.get("result")),
            tool=as_text(event.get("tool_name")) or None,
            call_id=as_text(event.get("request_id")) or None,
            is_error=failed,
        )

    def _denied(self, event: Mapping[str, Any], place: Place) -> Entry:
        request, tool = as_text(event.get("request_id")), as_text(event.get("tool_name"))
        made = self._calls.get(request) or call(tool, as_object(event.get("args")))
        text = rejection(as_text(event.get("reason")), made)
        return place.entry(Kind.DECISION, text, tool=tool or None, call_id=request or None)

    def _completed(self, event: Mapping[str, Any], place: Place) -> Iterator[Entry]:
        if reasoning := as_text(event.get("reasoning")).strip():
            yield place.entry(Kind.THINKING, reasoning, part=1)
        if response := as_text(event.get("response")).strip():
            yield place.entry(Kind.ASSISTANT, response)
        else:
            self._notes.skip("empty completed")

    def _answered(self, event: Mapping[str, Any], place: Place) -> Entry:
        if event.get("skipped") is True:
            return place.entry(Kind.DECISION, "Declined to answer")
        return place.entry(Kind.USER, as_text(event.get("response")))


class _Fields(dict[str, Any]):
    """The fields of an event as text, the missing ones empty."""

    def __getitem__(self, name: str) -> str:
        return as_text(self.get(name))


def _shown(result: object) -> str:
    return result if isinstance(result, str) else orjson.dumps(result, option=orjson.OPT_INDENT_2).decode()
