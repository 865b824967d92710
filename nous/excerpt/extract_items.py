"""Convert a transcript to excerpt items: messages, plans, failures, groups of tool calls.

Only about one hundredth of a coding session is written by a person or said by the agent. Tool output, thinking and
system text are left out here, before any budget applies. Calls are shortened, repeats are counted, and commits are
shown by their subject.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nous.excerpt.file_names import Naming
from nous.excerpt.items import Item, Items, Role, as_said
from nous.excerpt.strategy import ManifestEntry
from nous.excerpt.tool_outputs import failure, leaves, looks_failed
from nous.text.sentences import Span
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action, hands_over, subject_of_commit, writes
from nous.transcript.tool_summary import BOOKKEEPING, TABLE, extract_tool_summary

FAILED, REJECTED, INTERRUPTED = "failed", "rejected", "interrupted"
_LONGEST_REASON = 100
_DECIDED = {"Rejected": REJECTED, "Interrupted": INTERRUPTED}
_SPEAKERS = frozenset({Kind.USER, Kind.ASSISTANT})
_ANSWERS = frozenset({Kind.TOOL_RESULT, Kind.DECISION, Kind.ERROR})

CallOutcome = tuple[str, str]
"""What became of an unsuccessful call, and the reason for a failure in a few words; empty if unknown."""


def call_outcomes(transcript: Transcript) -> tuple[Mapping[str, CallOutcome], Collection[str]]:
    """Return the unsuccessful calls by entry id, and the ids of entries that report one.

    The last answer to a call wins.
    """
    outcomes: dict[str, CallOutcome] = {}
    failures: set[str] = set()
    for call, answer in _answers(transcript):
        what, reason = _outcome_of(answer), ""
        if what == FAILED:
            failures.add(answer.id)
            reason = failure(answer.text).partition("\n")[0][:_LONGEST_REASON].replace(" | ", " / ")
        if call and what:
            outcomes[call] = what, reason
        elif call:
            outcomes.pop(call, None)
    return outcomes, failures


def _answers(transcript: Transcript) -> Iterator[tuple[str | None, Entry]]:
    """Yield each answer with the id of its call if known; without ids they come in order."""
    calls: dict[str, str] = {}
    waiting: deque[str] = deque()
    for entry in transcript:
        if entry.kind in _SPEAKERS:
            waiting.clear()
        elif entry.kind is Kind.TOOL_CALL and entry.call_id:
            calls[entry.call_id] = entry.id
        elif entry.kind is Kind.TOOL_CALL:
            waiting.append(entry.id)
        elif entry.kind in _ANSWERS and entry.call_id:
            yield calls.get(entry.call_id), entry
        elif entry.kind in _ANSWERS:
            is_refusal = entry.kind is Kind.DECISION and _outcome_of(entry)
            is_of_call = entry.kind is Kind.TOOL_RESULT or entry.tool or is_refusal
            yield waiting.popleft() if waiting and is_of_call else None, entry


def _outcome_of(answer: Entry) -> str:
    if answer.kind is Kind.DECISION:
        return next((what for said, what in _DECIDED.items() if answer.text.startswith(said)), "")
    return FAILED if answer.kind is Kind.ERROR or looks_failed(answer) else ""


BETWEEN_CALLS = " | "
LONGEST_CALL = 240
LONGEST_SIDE_EFFECT = 400
_LONGEST_VALUE = 80
_LONGEST_COMMAND = 50
# A change of directory, and limits of output. Begins with a class of characters, which makes the search fast.
_PLUMBING = re.compile(
    r"\A\s*cd [^\s;&|]+ *(?:&&|;)|[\\2|](?:(?<=\\)\n|(?<=2)>&1|(?<=\|) ?(?:head|tail)(?: +-?\w+)*(?= *(?:[;&|\n]|\Z)))"
)
_LONGEST_SUBJECT = 120


def line_of_calls(
    run: Sequence[Action], naming: Naming, outcomes: Mapping[str, CallOutcome]
) -> tuple[str, Sequence[Span], Sequence[Span]]:
    """Render calls in order of first use; unsuccessful ones say why and had no side effect.

    Return the line, the spans of its calls, and of those that changed something outside.
    """
    times: dict[str, int] = {}
    side_effects: set[str] = set()
    for action in run:
        call, _, command, paths = action
        commit = subject_of_commit(command) if command else None
        has_side_effect = commit is not None if command else not paths and (writes(action) or hands_over(action))
        relative = action._replace(command=naming.brief(command[:LONGEST_SIDE_EFFECT], ())) if command else action
        made = f'git commit "{commit[:_LONGEST_SUBJECT]}"' if commit else ""
        brief = made or brief_call(relative, has_side_effect=has_side_effect)
        if brief := naming.brief(brief if brief.isprintable() else " ".join(brief.split()), paths):
            if outcome := outcomes.get(call.id):
                what, reason = outcome
                brief = f"{brief} ({what}: {reason})" if has_side_effect and reason else f"{brief} ({what})"
                has_side_effect = commit is not None  # made, though another part of its command failed
            times[brief] = times.get(brief, 0) + 1
            if has_side_effect:
                side_effects.add(brief)
    pieces = [f"{brief} x{count}" if count > 1 else brief for brief, count in times.items()]
    spans = _spans(pieces)
    effective = [span for brief, span in zip(times, spans, strict=True) if brief in side_effects]
    return BETWEEN_CALLS.join(pieces), spans, effective


def _spans(pieces: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    begun = 0
    for piece in pieces:
        end = begun + len(piece) + len(BETWEEN_CALLS)
        spans.append((begun, end))
        begun = end
    if spans:
        spans[-1] = spans[-1][0], begun - len(BETWEEN_CALLS)
    return spans


def brief_call(action: Action, *, has_side_effect: bool) -> str:
    """Shorten a call to `LONGEST_CALL` characters, but cut none of its paths."""
    call, _, command, paths = action
    given = call.tool_input or {}
    if command and call.tool in TABLE and not paths:
        purpose = given.get("description")
        shown = (_shortened(purpose, _LONGEST_VALUE),) if isinstance(purpose, str) and purpose else ()
        return f"{call.tool}({': '.join((*shown, _shortened(_PLUMBING.sub('', command), _LONGEST_COMMAND)))})"
    summary = extract_tool_summary(call.tool, given, paths) if call.tool and given else _as_written(call)
    if given and summary == call.tool:
        longest = LONGEST_SIDE_EFFECT if has_side_effect else _LONGEST_VALUE
        texts = {name: " ".join(str(leaf) for _, leaf in leaves(value)) for name, value in given.items()}
        summary = f"{call.tool}({', '.join(f'{name}={_shortened(text, longest)}' for name, text in texts.items())})"
    most = LONGEST_SIDE_EFFECT if has_side_effect else LONGEST_CALL
    return summary if len(summary) <= most or paths else f"{summary[: most - 3]}..."


def _as_written(call: Entry) -> str:
    text = " ".join(call.text.split())
    return text if not call.tool or f"{call.tool}(" in text else extract_tool_summary(call.tool)


def _shortened(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


_OF_PLANS = ("todos", "plan", "items", "tasks", "content", "step", "subject", "title", "task", "description", "text")
_MOST_LINES = 400


def plan_of(call: Entry, seen: set[str]) -> str:
    """Return the lines of *call* that are not in *seen*: agents write plans anew each time."""
    fields = leaves(call.tool_input or {})
    texts = [text for name, text in fields if name.rpartition(".")[2] in _OF_PLANS and isinstance(text, str)]
    lines = [line for text in texts for whole in text.splitlines() if (line := whole.strip()) and line not in seen]
    seen.update(lines[:_MOST_LINES])
    return "\n".join(lines[:_MOST_LINES])


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

Placed = tuple[int, Action]


def items_of(
    transcript: Transcript,
    actions: Mapping[str, Action],
    naming: Naming,
    outcomes: Mapping[str, CallOutcome],
    failures: Collection[str],
) -> tuple[Items, tuple[ManifestEntry, ...]]:
    builder = _ItemBuilder(actions, naming, outcomes, failures)
    for at, entry in enumerate(transcript):
        builder.take(at, entry)
    builder.end_run()
    return Items(builder.items), tuple(builder.left_out)


@dataclass(slots=True)
class _ItemBuilder:
    """Collects items; entries that are left out do not split a run of calls."""

    actions: Mapping[str, Action]
    naming: Naming
    outcomes: Mapping[str, CallOutcome]
    failed: Collection[str]
    items: list[Item] = field(default_factory=list[Item])
    left_out: list[ManifestEntry] = field(default_factory=list[ManifestEntry])
    run: list[Placed] = field(default_factory=list[Placed])
    failures: set[str] = field(default_factory=set[str])
    plans: set[str] = field(default_factory=set[str])

    def take(self, at: int, entry: Entry) -> None:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            self.run.append((at, self.actions[entry.id]))
        elif entry.id in self.failed:
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
        run, self.run = self.run, []
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
            if action.name in BOOKKEEPING and (plan := plan_of(action.call, self.plans))
        ]

    def _add_calls(self, at: int, actions: Sequence[Action]) -> None:
        line, calls, side_effects = line_of_calls(actions, self.naming, self.outcomes)
        if line:
            entries = tuple([action.call.id for action in actions])
            turn = actions[0].call.turn
            self.items.append(Item(Role.TOOLS, line, entries, at, tuple(calls), tuple(side_effects), turn=turn))
        else:
            for action in actions:
                self._leave_out(action.call, "bookkeeping call")

    def _fail(self, at: int, entry: Entry) -> None:
        text = failure(entry.text)
        if text and text not in self.failures:
            self.failures.add(text)
            escaped = as_said(text)
            size = max(len(escaped), len(entry.text.strip()))
            self._show(Item(Role.ERROR, escaped, (entry.id,), at, size=size, turn=entry.turn))
        else:
            self._leave_out(entry, "said before" if text else "says nothing")

    def _say(self, role: Role, text: str, at: int, entry: Entry) -> None:
        if role is Role.SUB_AGENT and not self.items and not self.run:
            role = Role.TASK
        escaped = as_said(text)
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
