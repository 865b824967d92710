"""What of a transcript can be shown at all: who said what, what failed, and one line for each run of tool calls.

Only about one hundredth of a coding session is anyone's words. Tool output, thinking and system text are left out
here, before any budget is thought of.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from nous.excerpt.calls import line_of_calls
from nous.excerpt.failures import failure, looks_failed
from nous.excerpt.fates import Fate
from nous.excerpt.naming import Naming
from nous.excerpt.plans import plan_of
from nous.excerpt.record import Record
from nous.prose import Span
from nous.transcript.model import Entry, Kind, Transcript


class Role(StrEnum):
    """Whose item it is; the value is the label it is shown under."""

    USER = "User"
    ASSISTANT = "Assistant"
    DECISION = "Decision"
    ERROR = "Error"
    TOOLS = "Tools"
    PLAN = "Plan"
    OUTPUT = "Output"
    SUB_AGENT = "Sub-agent"
    TEAMMATE = "Teammate"
    TASK = "Task"
    SUMMARY = "Summary"


PERSONAL = frozenset({Role.USER, Role.DECISION})
"""The roles in which a person speaks."""

_ROLES = {
    Kind.USER: Role.USER,
    Kind.ASSISTANT: Role.ASSISTANT,
    Kind.DECISION: Role.DECISION,
    Kind.ERROR: Role.ERROR,
    Kind.SUB_AGENT: Role.SUB_AGENT,
    Kind.SUMMARY: Role.SUMMARY,
    Kind.TOOL_CALL: Role.TOOLS,
}

_FROM_A_TEAMMATE = "<teammate-message"
_DRAFT, _AFTER_DRAFT = "Analysis:\n", "\nSummary:\n"
_LABELS = "|".join([*Role, "Part", "The session began", "Just before"])
_OURS = re.compile(rf"\[(?=(?:{_LABELS})\b|\.\.\. )")
_LIKE_OURS = re.compile(rf"([\n\r\v\f\x85\u2028\u2029]){_OURS.pattern}")

Placed = tuple[int, Entry]
"""An entry with its position in the transcript."""


class Item(NamedTuple):
    """Something that can be shown, whole or in parts. `at` is the position of its first entry in the transcript.

    `parts` are the calls of a line of tools and `deeds` those of them that changed the world outside of the files; for
    every other item its sentences are its parts, and `parts` is empty. `size` is the length of what it stands for,
    where that is more than *text*, and `of` the tool whose output it is.
    """

    role: Role
    text: str
    entries: tuple[str, ...]
    at: int = 0
    parts: tuple[Span, ...] = ()
    deeds: tuple[Span, ...] = ()
    size: int = 0
    of: str = ""


def items_of(
    transcript: Transcript, naming: Naming, fates: Mapping[str, Fate]
) -> tuple[tuple[Item, ...], tuple[Record, ...]]:
    """The items of *transcript* in order, and a record of every entry that is none."""
    gathered = _Gathered(naming, fates)
    for at, entry in enumerate(transcript):
        gathered.take(at, entry)
    gathered.end_run()
    return tuple(gathered.items), tuple(gathered.left_out)


class _Gathered:
    """The items so far. What is left out does not tear a run of calls apart: it ends with what is shown next."""

    def __init__(self, naming: Naming, fates: Mapping[str, Fate]) -> None:
        self.items: list[Item] = []
        self.left_out: list[Record] = []
        self._naming = naming
        self._fates = fates
        self._run: list[Placed] = []
        self._failures: set[str] = set()
        self._plans: set[str] = set()

    def take(self, at: int, entry: Entry) -> None:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            self._run.append((at, entry))
        elif kind is Kind.ERROR or (kind is Kind.TOOL_RESULT and looks_failed(entry)):
            self._fail(at, entry)
        elif kind is Kind.TOOL_RESULT:
            self._leave_out(entry, "tool output")
        elif kind not in _ROLES:
            self._leave_out(entry, str(kind))
        elif text := entry.text.strip():
            self._say(_role(entry), text, at, entry)
        else:
            self._leave_out(entry, "empty")

    def end_run(self) -> None:
        """Tell the calls since the last item in one line, and each plan among them on its own."""
        if not self._run:
            return
        run, self._run = self._run, []
        plans = [(at, call, plan) for at, call in run if (plan := as_said(plan_of(call, self._plans)))]
        planned = {call.id for _, call, _ in plans}
        calls = [call for _, call in run if call.id not in planned] if planned else [call for _, call in run]
        begins = next((at for at, call in run if call.id not in planned), run[0][0])
        self.items.extend(Item(Role.PLAN, plan, (call.id,), at) for at, call, plan in plans if at < begins)
        line = line_of_calls(calls, self._naming, self._fates)
        if line.text:
            entries = tuple([call.id for call in calls])
            self.items.append(Item(Role.TOOLS, line.text, entries, begins, line.parts, line.deeds))
        else:
            for call in calls:
                self._leave_out(call, "bookkeeping call")
        self.items.extend(Item(Role.PLAN, plan, (call.id,), at) for at, call, plan in plans if at >= begins)

    def _fail(self, at: int, entry: Entry) -> None:
        text = failure(entry.text)
        if text and text not in self._failures:
            self._failures.add(text)
            told = as_said(text)
            self._show(Item(Role.ERROR, told, (entry.id,), at, size=max(len(told), len(entry.text.strip()))))
        else:
            self._leave_out(entry, "said before" if text else "says nothing")

    def _say(self, role: Role, text: str, at: int, entry: Entry) -> None:
        if role is Role.SUB_AGENT and not self.items and not self._run:
            role = Role.TASK
        told = as_said(_without_draft(text) if role is Role.SUMMARY else text)
        size = max(len(told), len(text))
        self._show(Item(role, told, (entry.id,), at, size=size))

    def _show(self, item: Item) -> None:
        self.end_run()
        self.items.append(item)

    def _leave_out(self, entry: Entry, reason: str) -> None:
        self.left_out.append(Record((entry.id,), str(entry.kind), len(entry.text), 0, reason))


def _role(entry: Entry) -> Role:
    """Whose words they are. What is said inside of a sub-agent, or by another agent of a team, is never a person's."""
    if entry.agent:
        return Role.SUB_AGENT
    if entry.kind is Kind.USER and entry.text.lstrip().startswith(_FROM_A_TEAMMATE):
        return Role.TEAMMATE
    return _ROLES[entry.kind]


def _without_draft(summary: str) -> str:
    """*summary* without what its writer thought before writing it, which says the same at greater length."""
    draft, heading, rest = summary.partition(_AFTER_DRAFT)
    return rest.strip() if heading and _DRAFT in draft and rest.strip() else summary


def as_said(text: str) -> str:
    """*text*, of which no further line can be taken for one of the excerpt's own, with a label or the mark of a gap."""
    if "[" not in text:
        return text
    is_plain = text.isascii() and "\v" not in text and "\f" not in text
    if is_plain and "\n[" not in text and "\r[" not in text:
        return text
    return _LIKE_OURS.sub(r"\g<1>\\[", text)


def unlike_ours(line: str) -> str:
    """A *line* that stands at the beginning of another, which `as_said` would not see."""
    return f"\\{line}" if _OURS.match(line) else line
