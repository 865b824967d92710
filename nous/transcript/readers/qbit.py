"""Parse qbit transcripts (JSON array, lines, or both; times in ISO form or ms) into entries."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, templates, text_at
from nous.transcript.parsing.sessions import SessionReading, call, rejection
from nous.transcript.parsing.values import as_object, as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_SURE_TYPES = frozenset({"started", "user_message", "tool_request", "tool_result", "completed"})
_BY_SUB_AGENTS = frozenset({"sub_agent_tool_request", "sub_agent_tool_result"})
_STAMP = "_timestamp"
_USER = re.compile(r"\bthe user\b|\bby user\b|^user (?:denied|rejected|declined|cancelled)", re.IGNORECASE)

_TEMPLATES = templates("qbit")


def _confidence(sample: Sample) -> float:
    known = any(str(record.get("type")) in _SURE_TYPES for record in sample.records)
    return (0.9 if known else 0.5) * sample.share(lambda record: _STAMP in record and "type" in record)


@dataclass(slots=True)
class QbitReading(SessionReading):
    """The events of a session or a sub-agent; `asked` are calls for the user to approve."""

    asked: set[str] = field(default_factory=set[str])

    def entries(self, record: Record) -> Iterable[Draft]:
        event = record.value
        kind = str(event.get("type", "no type"))
        own = f"line-{record.line}-{record.offset}"
        place = RecordPlace(own, record.line, record.offset, parse_time(event.get(_STAMP)))
        if not self.is_introduced:
            self.is_introduced, self.is_sub_agents = True, kind in _BY_SUB_AGENTS
        match kind:
            case "started":
                return ()  # it only counts the turn, which begins with the words of the user
            case "user_message":
                return self.said([text_at(event, "content")], place)
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
            case "ask_human_response" if event.get("skipped") is True and not event.get("response"):
                return (place.draft(Kind.DECISION, "Declined to answer"),)
            case "ask_human_response":
                return self.text_or_skip(Kind.USER, text_at(event, "response"), place, "empty answer")
            case _:
                return self.from_template(_TEMPLATES, kind, event, place)

    def _requested(self, kind: str, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a call, once: an approval repeats the request, or is all of it."""
        request, tool = text_at(event, "request_id"), text_at(event, "tool_name")
        if kind == "tool_approval_request":
            self.asked.add(request)
        if "approv" in kind and (request in self.calls or not tool):
            return self.skip(kind)
        return (self.call(tool, as_object(event.get("args", event.get("input"))), request, place),)

    def _result(self, event: JsonObject, place: RecordPlace) -> Draft:
        failed = event.get("success") is False
        request, tool = text_at(event, "request_id") or None, text_at(event, "tool_name") or None
        self.calls.pop(request or "", None)
        kind, text = Kind.ERROR if failed else Kind.TOOL_RESULT, as_shown(event.get("result"))
        return place.draft(kind, text, tool=tool, call_id=request, is_error=failed)

    def _by_sub_agent(self, kind: str, event: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        is_call = kind == "sub_agent_tool_request"
        for draft in self._requested(kind, event, place) if is_call else (self._result(event, place),):
            draft.agent = None if self.is_sub_agents else text_at(event, "agent_id") or "sub-agent"
            yield draft

    def _denied(self, event: JsonObject, place: RecordPlace) -> Draft:
        """Return a rejection by the user, if the user was asked; else a refusal by policy."""
        request, tool = text_at(event, "request_id"), text_at(event, "tool_name")
        made = self.calls.get(request) or call(tool, object_at(event, "args"))
        reason = text_at(event, "reason")
        is_the_users = request in self.asked or _USER.search(reason) is not None
        text = rejection(reason, made) if is_the_users else f"Not allowed: {made.summary} ({reason})"
        kind = Kind.DECISION if is_the_users else Kind.ERROR
        return place.draft(kind, text, tool=tool or None, call_id=request or None, is_error=not is_the_users)

    def _completed(self, event: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        if reasoning := text_at(event, "reasoning").strip():
            yield place.draft(Kind.THINKING, reasoning, 1)
        yield from self.text_or_skip(Kind.ASSISTANT, text_at(event, "response"), place, "empty completed")


READER = FormatReader("qbit", _confidence, QbitReading)
