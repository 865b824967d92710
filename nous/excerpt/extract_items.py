"""Extract the items of a transcript: messages, failures, and one line per run of calls.

Only about one hundredth of a coding session is written by a person or said by the agent. Tool output, thinking and
system text are left out here, before any budget applies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from nous.excerpt.calls import CallOutcomes, line_of_calls
from nous.excerpt.file_names import Naming
from nous.excerpt.items import Item, Items, Role, as_said
from nous.excerpt.strategy import ManifestEntry
from nous.excerpt.tool_outputs import failure
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action
from nous.transcript.tool_summary import BOOKKEEPING

_LISTS = ("todos", "plan", "items", "tasks")
_TEXTS = ("plan", "content", "step", "subject", "title", "task", "description", "text")
_MOST_LINES = 400
_DEEPEST = 4


def plan_of(call: Entry, seen: set[str]) -> str:
    """Return the lines of *call* that are not in *seen*: agents write plans anew each time."""
    lines = [line for line in _lines(call.tool_input or {}) if line not in seen][:_MOST_LINES]
    seen.update(lines)
    return "\n".join(lines)


def _lines(given: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for key in _LISTS if depth < _DEEPEST else ():
        for each in cast("list[object]", value) if isinstance(value := given.get(key), list) else ():
            of_each = cast("Mapping[str, Any]", each)
            yield from _lines(of_each, depth + 1) if isinstance(each, Mapping) else _stripped(each)
    for key in _TEXTS:
        yield from _stripped(given.get(key))


def _stripped(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from (stripped for line in value.splitlines() if (stripped := line.strip()))


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

Placed = tuple[int, Action]
"""A call with its position in the transcript."""


def items_of(
    transcript: Transcript, actions: Mapping[str, Action], naming: Naming, outcomes: CallOutcomes
) -> tuple[Items, tuple[ManifestEntry, ...]]:
    """Return the items of *transcript*, and a record of every entry that is not one."""
    builder = _ItemBuilder(actions, naming, outcomes)
    for at, entry in enumerate(transcript):
        builder.take(at, entry)
    builder.end_run()
    return Items(builder.items), tuple(builder.left_out)


class _ItemBuilder:
    """Collects items; entries that are left out do not split a run of calls."""

    def __init__(self, actions: Mapping[str, Action], naming: Naming, outcomes: CallOutcomes) -> None:
        self.items: list[Item] = []
        self.left_out: list[ManifestEntry] = []
        self._actions = actions
        self._naming = naming
        self._outcomes = outcomes.of_calls
        self._failed = outcomes.failures
        self._run: list[Placed] = []
        self._failures: set[str] = set()
        self._plans: set[str] = set()

    def take(self, at: int, entry: Entry) -> None:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            self._run.append((at, self._actions[entry.id]))
        elif entry.id in self._failed:
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
        """Add the calls since the last item as one line, and each plan among them as an item."""
        run, self._run = self._run, []
        plans = self._plans_among(run)
        planned = {plan.entries[0] for plan in plans}
        calls = [(at, action) for at, action in run if action.call.id not in planned]
        before = [plan for plan in plans if calls and plan.at < calls[0][0]]
        self.items += before
        if calls:
            self._add_calls(calls[0][0], [action for _, action in calls])
        self.items += plans[len(before) :]

    def _plans_among(self, run: Sequence[Placed]) -> list[Item]:
        return [
            Item(Role.PLAN, as_said(plan), (action.call.id,), at, turn=action.call.turn)
            for at, action in run
            if action.name in BOOKKEEPING and (plan := plan_of(action.call, self._plans))
        ]

    def _add_calls(self, at: int, actions: Sequence[Action]) -> None:
        line = line_of_calls(actions, self._naming, self._outcomes)
        if line.text:
            entries = tuple([action.call.id for action in actions])
            turn = actions[0].call.turn
            self.items.append(Item(Role.TOOLS, line.text, entries, at, line.parts, line.side_effects, turn=turn))
        else:
            for action in actions:
                self._leave_out(action.call, "bookkeeping call")

    def _fail(self, at: int, entry: Entry) -> None:
        text = failure(entry.text)
        if text and text not in self._failures:
            self._failures.add(text)
            escaped = as_said(text)
            size = max(len(escaped), len(entry.text.strip()))
            self._show(Item(Role.ERROR, escaped, (entry.id,), at, size=size, turn=entry.turn))
        else:
            self._leave_out(entry, "said before" if text else "says nothing")

    def _say(self, role: Role, text: str, at: int, entry: Entry) -> None:
        if role is Role.SUB_AGENT and not self.items and not self._run:
            role = Role.TASK
        escaped = as_said(_without_draft(text) if role is Role.SUMMARY else text)
        size = max(len(escaped), len(text))
        self._show(Item(role, escaped, (entry.id,), at, size=size, turn=entry.turn))

    def _show(self, item: Item) -> None:
        self.end_run()
        self.items.append(item)

    def _leave_out(self, entry: Entry, reason: str) -> None:
        self.left_out.append(ManifestEntry((entry.id,), str(entry.kind), len(entry.text), 0, reason))


def _role(entry: Entry) -> Role:
    """Return the role of *entry*; the words of another agent are never a person's."""
    if entry.agent:
        return Role.SUB_AGENT
    if entry.kind is Kind.USER and entry.text.lstrip().startswith(_FROM_A_TEAMMATE):
        return Role.TEAMMATE
    return _ROLES[entry.kind]


def _without_draft(summary: str) -> str:
    """Remove the writer's preliminary analysis from *summary*, which it repeats at length."""
    draft, heading, rest = summary.partition(_AFTER_DRAFT)
    return rest.strip() if heading and _DRAFT in draft and rest.strip() else summary
