"""Parse the text that `build_summarizer_input` writes: `[turn 001] USER:` and so on.

Each block becomes the event that it was written from, and is read like one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from nous.transcript.io.byte_source import Line
from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.markdown import BoundedText, TextLine
from nous.transcript.parsing.values import as_object, parsed
from nous.transcript.reader import Draft, FormatReader, LineReading, Sample
from nous.transcript.readers.qbit import QbitReading

_EVENTS = {
    "USER": ("user_message", "content"),
    "ASSISTANT": ("completed", "response"),
    "TOOL_REQUEST": ("tool_request", "args"),
    "TOOL_RESULT": ("tool_result", "result"),
    "TOOL_APPROVAL_REQUEST": ("tool_approval_request", "args"),
    "TOOL_AUTO_APPROVED": ("tool_auto_approved", "reason"),
    "TOOL_DENIED": ("tool_denied", "reason"),
    "ERROR": ("error", "message"),
    "SUB_AGENT_STARTED": ("sub_agent_started", "task"),
    "SUB_AGENT_COMPLETED": ("sub_agent_completed", "response"),
    "SUB_AGENT_ERROR": ("sub_agent_error", "error"),
    "Ask Human": ("ask_human_request", "question"),
    "User Response": ("ask_human_response", "response"),
    "User Input": ("subtask_user_input", "input"),
    "Task": ("task_progress", "message"),
    "Task Resumed": ("task_resumed", "message"),
    "Enricher": ("enricher_result", "context_added"),
    "Subtask Created": ("subtask_created", "title"),
    "Subtask Completed": ("subtask_completed", "result"),
    "Waiting for Input": ("subtask_waiting_for_input", "prompt"),
}
"""Type of the event by the word that begins its block, and its field with the text."""

_TURN = re.compile(r"\[turn (?P<turn>\d{3,9})\] (?P<kind>[A-Z_]+)(?: \((?P<about>.*?)\))?:(?: (?P<text>.*))?$")
_OUTSIDE = re.compile(r"\*\*\[(?P<kind>[A-Z][A-Za-z ]+?)(?: - (?P<about>[^\]]*)| [a-z_]+)?\]\*\* (?P<text>.*)$")
_MOST_CANCELLED = 10  # turns without a block that may precede one; a limit, lest a quoted number hides what follows
_DECIDED = ("Approved ", "Answered: ", "Declined to answer")


def _confidence(sample: Sample) -> float:
    first = next((line for line in sample.text.splitlines() if line.strip()), "")
    found = _TURN.match(first) or _OUTSIDE.match(first)
    return 0.95 if found and found["kind"] in _EVENTS else 0.0


def _turn(header: re.Match[str], turn: int) -> int:
    return int(header.groupdict().get("turn") or turn)


@dataclass(slots=True)
class _Input(LineReading):
    """The block being read, and open requests by tool, since a result does not name its own.

    A block of a turn is complete once a blank line ends it, others after each line.
    """

    kind: str = ""
    about: str = ""
    line: int = 0
    offset: int = 0
    turn: int = 0
    text: BoundedText = field(default_factory=BoundedText)
    is_complete: bool = True
    requests: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    session: QbitReading = field(default_factory=QbitReading)

    def __post_init__(self) -> None:
        self.session.notes = self.notes

    def entries(self, line: Line) -> Iterator[Draft]:
        now = TextLine.of(line)
        found = self._header(now.text)
        if found:
            yield from self.conclude()
            self.turn = _turn(found, self.turn)
            self.kind, self.about = found["kind"], found["about"] or ""
            self.line, self.offset, self.text = now.number, now.offset, BoundedText()
            self.text.add(found["text"] or "")
        elif not self.text.add(now.text):
            self.notes.skip("lines of an endless turn")
        self.is_complete = not now.text.strip() or not self.kind.isupper()

    def _header(self, text: str) -> re.Match[str] | None:
        """Return the header of a block. A quoted one has no blank line before, or a distant turn."""
        found = _TURN.match(text) or _OUTSIDE.match(text) if self.is_complete else None
        last = self.turn + _MOST_CANCELLED
        is_next = found and (not self.kind or self.turn <= _turn(found, self.turn) <= last)
        return found if found and is_next and found["kind"] in _EVENTS else None

    def conclude(self) -> Iterable[Draft]:
        for draft in self.session.entries(Record(self._event(), self.line, self.offset)) if self.kind else ():
            is_decision = self.kind == "User Response" and draft.text.startswith(_DECIDED)
            yield replace(draft, kind=Kind.DECISION) if is_decision else draft

    def _event(self) -> dict[str, Any]:
        name, where = _EVENTS[self.kind]
        text = "\n".join(self.text.lines).strip("\n")
        parts = (part.partition("=") for part in self.about.split(", "))
        stated = {key: value for key, _, value in parts}
        tool, agent = stated.get("tool", ""), stated.get("agent", "")
        event: dict[str, Any] = {"type": name, "tool_name": tool, "agent_id": agent, "agent_name": agent}
        event |= {"error_type": self.about, "success": stated.get("success") != "false"}
        event["request_id"] = stated.get("id") or stated.get("request_id") or self._request(tool, name)
        if name == "tool_request":
            self.requests.setdefault(tool, []).append(event["request_id"])
        return event | {where: as_object(parsed(text)) if where == "args" else text}

    def _request(self, tool: str, name: str) -> str:
        """Return the first open request of a tool; a result or a denial closes it."""
        waiting = self.requests.get(tool, [])
        if not waiting:
            return ""
        return waiting.pop(0) if name in {"tool_result", "tool_denied"} else waiting[0]


READER = FormatReader("summarizer_input", _confidence, _Input)
