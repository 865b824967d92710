"""Render a run of tool calls as one line, and find out which calls failed.

Calls are shortened, repeats are counted, and commits are shown by their subject.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nous.excerpt.file_names import Naming
from nous.excerpt.items import Item
from nous.excerpt.layout import LengthAccount, merged, shown_length
from nous.excerpt.tool_outputs import failure, leaves, looks_failed
from nous.text.sentences import Span
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action, hands_over, pushes, subject_of_commit, writes
from nous.transcript.tool_summary import extract_tool_summary

FAILED, REJECTED, INTERRUPTED = "failed", "rejected", "interrupted"
_LONGEST_REASON = 100
_DECIDED = {"Rejected": REJECTED, "Interrupted": INTERRUPTED}
_SPEAKERS = frozenset({Kind.USER, Kind.ASSISTANT})
_ANSWERS = frozenset({Kind.TOOL_RESULT, Kind.DECISION, Kind.ERROR})


class CallOutcome(NamedTuple):
    """Outcome of an unsuccessful call, and the answer that reports it."""

    what: str
    answer: Entry

    @property
    def reason(self) -> str:
        """Reason for the failure in a few words; empty if unknown."""
        if self.what != FAILED:
            return ""
        return failure(self.answer.text).partition("\n")[0][:_LONGEST_REASON].replace(" | ", " / ")


class CallOutcomes(NamedTuple):
    """Unsuccessful calls by entry id, and the ids of the entries that report a failure."""

    of_calls: Mapping[str, CallOutcome]
    failures: Collection[str]


def call_outcomes(transcript: Transcript) -> CallOutcomes:
    """Return the outcomes of the unsuccessful calls; the last answer to a call wins."""
    outcomes: dict[str, CallOutcome] = {}
    failures: set[str] = set()
    for call, answer in _answers(transcript):
        what = _outcome_of(answer)
        if what == FAILED:
            failures.add(answer.id)
        if call and what:
            outcomes[call] = CallOutcome(what, answer)
        elif call:
            outcomes.pop(call, None)
    return CallOutcomes(outcomes, failures)


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
    """Return the outcome that *answer* reports; empty for success."""
    if answer.kind is Kind.DECISION:
        return next((what for said, what in _DECIDED.items() if answer.text.startswith(said)), "")
    return FAILED if answer.kind is Kind.ERROR or looks_failed(answer) else ""


BETWEEN_CALLS = " | "
LONGEST_CALL = 240
LONGEST_SIDE_EFFECT = 400
_LONGEST_VALUE = 80
_SHORT_COMMAND = 40
_LONGEST_SUBJECT = 120


class ToolsLine(NamedTuple):
    """A line of tool calls, the spans of its calls, and of those that changed something outside."""

    text: str
    parts: tuple[Span, ...]
    side_effects: tuple[Span, ...]


def line_of_calls(run: Sequence[Action], naming: Naming, outcomes: Mapping[str, CallOutcome]) -> ToolsLine:
    """Render calls in order of first use; unsuccessful ones say why and had no side effect."""
    times: dict[str, int] = {}
    side_effects: set[str] = set()
    for action in run:
        call, _, command, paths = action
        commit = subject_of_commit(command) if command else None
        has_side_effect = commit is not None if command else not paths and (writes(action) or hands_over(action))
        brief = _commit(commit, command) if commit else brief_call(action, has_side_effect=has_side_effect)
        if brief := naming.brief(brief if brief.isprintable() else " ".join(brief.split()), paths):
            if outcome := outcomes.get(call.id):
                why = f": {reason}" if has_side_effect and (reason := outcome.reason) else ""
                brief = f"{brief} ({outcome.what}{why})"
                has_side_effect = commit is not None  # made, though another part of its command failed
            times[brief] = times.get(brief, 0) + 1
            if has_side_effect:
                side_effects.add(brief)
    pieces = [f"{brief} x{count}" if count > 1 else brief for brief, count in times.items()]
    spans = _spans(pieces)
    effective = [span for brief, span in zip(times, spans, strict=True) if brief in side_effects]
    return ToolsLine(BETWEEN_CALLS.join(pieces), tuple(spans), tuple(effective))


def _commit(subject: str, command: str) -> str:
    pushed = f" + {push}" if (push := pushes(command)) else ""
    return f'git commit "{subject[:_LONGEST_SUBJECT]}"{pushed}'


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
    if command and (purpose := given.get("description")) and isinstance(purpose, str):
        is_short = len(command) <= _SHORT_COMMAND and "\n" not in command  # mostly both say the same
        shown = " ".join(purpose.split())[:_LONGEST_VALUE]
        return f"{call.tool}({shown}: {command})" if is_short else f"{call.tool}({shown})"
    summary = extract_tool_summary(call.tool, given, paths) if call.tool and given else _as_written(call)
    if given and summary == call.tool:
        longest = LONGEST_SIDE_EFFECT if has_side_effect else _LONGEST_VALUE
        summary = f"{call.tool}({', '.join(_arguments(given, longest))})"
    most = LONGEST_SIDE_EFFECT if has_side_effect else LONGEST_CALL
    return summary if len(summary) <= most or paths else f"{summary[: most - 3]}..."


def _as_written(call: Entry) -> str:
    text = " ".join(call.text.split())
    return text if not call.tool or f"{call.tool}(" in text else extract_tool_summary(call.tool)


def _arguments(given: Mapping[str, Any], most: int) -> Iterator[str]:
    for name, value in given.items():
        shown = " ".join(" ".join(str(leaf) for _, leaf in leaves(value)).split())
        yield f"{name}={shown if len(shown) <= most else f'{shown[: most - 3]}...'}"


_LEAST = 16
SideEffect = tuple[int, Span]
"""A side effect: the position of its item, and its span in that item."""


def side_effects_in(items: Sequence[Item], *, but: Collection[int]) -> list[SideEffect]:
    """Return the side effects of *items*, the last first, without the items at *but*."""
    return [
        (index, side_effect)
        for index in range(len(items) - 1, -1, -1)
        if items[index].side_effects and index not in but
        for side_effect in reversed(items[index].side_effects)
    ]


def take_side_effects(
    items: Sequence[Item], side_effects: Sequence[SideEffect], account: LengthAccount, most: int
) -> tuple[dict[int, tuple[Span, ...]], bool]:
    """Return the spans of the side effects that fit, in order, and whether all do."""
    limit = account.spent + most
    taken: dict[int, tuple[Span, ...]] = {}
    count = 0
    for index, side_effect in side_effects:
        if limit - account.spent < _LEAST:
            break
        text, before = items[index].text, taken.get(index, ())
        spans = merged((*before, side_effect))
        more = shown_length(text, spans) - (shown_length(text, before) if before else 0)
        if account.spent + account.cost(index, more) <= limit:
            account.take(index, more)
            taken[index] = spans
            count += 1
    return taken, count == len(side_effects)
