"""What of a transcript can be shown at all: who said what, what failed, and one line for each run of tool calls.

Only about one hundredth of a coding session is anyone's words. Tool output, thinking and system text are left out
here, before any budget is thought of.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from nous.excerpt.calls import line_of_calls
from nous.excerpt.failures import failure, looks_failed
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

Placed = tuple[int, Entry]
"""An entry with its position in the transcript."""


class Item(NamedTuple):
    """Something that can be shown, whole or in parts. `at` is the position of its first entry in the transcript.

    `parts` are the calls of a line of tools and `deeds` those of them that changed the world outside of the files; for
    every other item its sentences are its parts, and `parts` is empty.
    """

    role: Role
    text: str
    entries: tuple[str, ...]
    at: int = 0
    parts: tuple[Span, ...] = ()
    deeds: tuple[Span, ...] = ()


def items_of(transcript: Transcript, naming: Naming) -> tuple[tuple[Item, ...], tuple[Record, ...]]:
    """The items of *transcript* in order, and the entries that are none."""
    items: list[Item] = []
    left_out: list[Record] = []
    failures_seen, plans_seen = set[str](), set[str]()
    for is_run, placed in groupby(_sorted_out(transcript, left_out), key=_is_a_call):
        if is_run:
            items.extend(_run(tuple(placed), naming, plans_seen=plans_seen, left_out=left_out))
        else:
            items.extend(_said(placed, failures_seen, left_out))
    return tuple(items), tuple(left_out)


def _is_a_call(placed: Placed) -> bool:
    return placed[1].kind is Kind.TOOL_CALL


def _sorted_out(transcript: Transcript, left_out: list[Record]) -> Iterator[Placed]:
    """The entries that may become items, with their positions.

    The others are set aside, so that they do not tear runs of calls apart.
    """
    for at, entry in enumerate(transcript):
        if reason := _why_not(entry):
            left_out.append(_left_out(entry, reason))
        else:
            yield at, entry


def _why_not(entry: Entry) -> str | None:
    kind = entry.kind
    if kind is Kind.TOOL_RESULT:
        return None if looks_failed(entry) else "tool output"
    if kind is Kind.TOOL_CALL:
        return None
    if not entry.text or entry.text.isspace():
        return "empty"
    return None if kind in _ROLES else str(kind)


def _run(placed: Sequence[Placed], naming: Naming, *, plans_seen: set[str], left_out: list[Record]) -> Iterator[Item]:
    plans = {at: plan for at, call in placed if (plan := plan_of(call, plans_seen))}
    calls = [call for at, call in placed if at not in plans]
    line = line_of_calls(calls, naming)
    if line.text:
        entries = tuple(call.id for call in calls)
        at = placed[0][0]
        yield Item(role=Role.TOOLS, text=line.text, entries=entries, at=at, parts=line.parts, deeds=line.deeds)
    else:
        left_out.extend(_left_out(call, "bookkeeping call") for call in calls)
    for at, call in placed:
        if at in plans:
            yield Item(role=Role.PLAN, text=plans[at], entries=(call.id,), at=at)


def _said(placed: Iterator[Placed], failures_seen: set[str], left_out: list[Record]) -> Iterator[Item]:
    for at, entry in placed:
        if entry.kind not in {Kind.TOOL_RESULT, Kind.ERROR}:
            yield Item(role=_role(entry), text=entry.text.strip(), entries=(entry.id,), at=at)
            continue
        text = failure(entry.text)
        if text in failures_seen:
            left_out.append(_left_out(entry, "said before"))
        elif text:
            failures_seen.add(text)
            yield Item(role=Role.ERROR, text=text, entries=(entry.id,), at=at)
        else:
            left_out.append(_left_out(entry, "empty"))


def _role(entry: Entry) -> Role:
    """Whose words they are. What is said inside of a sub-agent is never a person's."""
    return Role.SUB_AGENT if entry.agent else _ROLES[entry.kind]


def _left_out(entry: Entry, reason: str) -> Record:
    return Record((entry.id,), str(entry.kind), len(entry.text), 0, reason)
