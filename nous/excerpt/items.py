"""What of a transcript can be shown at all: who said what, what failed, and one line for each run of tool calls.

Only about one hundredth of a coding session is anyone's words. Tool output, thinking and system text are left out
here, before any budget is thought of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from nous.excerpt.calls import Shorten, line_of_calls, shortener
from nous.excerpt.failures import failure, looks_failed
from nous.transcript.model import Entry, Kind, Transcript


class Role(StrEnum):
    """Whose item it is; the value is the label it is shown under."""

    USER = "User"
    ASSISTANT = "Assistant"
    DECISION = "Decision"
    ERROR = "Error"
    TOOLS = "Tools"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that can be shown, whole or in parts. `calls` is how many tool calls a line of tools stands for."""

    role: Role
    text: str
    entries: tuple[str, ...]
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An entry that is no item, and why."""

    entry: str
    role: str
    chars: int
    reason: str


def items_of(transcript: Transcript) -> tuple[tuple[Item, ...], tuple[LeftOut, ...]]:
    """The items of *transcript* in order, and the entries that are none."""
    items: list[Item] = []
    left_out: list[LeftOut] = []
    failures_seen: set[str] = set()
    shorten = shortener(transcript)
    for is_run, entries in groupby(_sorted_out(transcript, left_out), key=lambda entry: entry.kind is Kind.TOOL_CALL):
        if is_run:
            items.extend(_run(list(entries), shorten=shorten, left_out=left_out))
        else:
            items.extend(_said(entries, failures_seen, left_out))
    return tuple(items), tuple(left_out)


def _sorted_out(transcript: Transcript, left_out: list[LeftOut]) -> Iterator[Entry]:
    """The entries that may become items. The others are set aside, so that they do not tear runs of calls apart."""
    for entry in transcript:
        if reason := _why_not(entry):
            left_out.append(LeftOut(entry=entry.id, role=entry.kind.value, chars=len(entry.text), reason=reason))
        else:
            yield entry


def _why_not(entry: Entry) -> str | None:
    if entry.kind is Kind.TOOL_CALL:
        return None
    if not entry.text.strip():
        return "empty"
    if entry.kind is Kind.TOOL_RESULT:
        return None if looks_failed(entry) else "tool output"
    return None if entry.kind in _ROLES else entry.kind.value


def _run(entries: Sequence[Entry], *, shorten: Shorten, left_out: list[LeftOut]) -> Iterator[Item]:
    line = line_of_calls(entries, shorten=shorten)
    if line:
        yield Item(role=Role.TOOLS, text=line, entries=tuple(e.id for e in entries), calls=len(entries))
    else:
        left_out.extend(
            LeftOut(entry=e.id, role=e.kind.value, chars=len(e.text), reason="bookkeeping call") for e in entries
        )


def _said(entries: Iterator[Entry], failures_seen: set[str], left_out: list[LeftOut]) -> Iterator[Item]:
    for entry in entries:
        if entry.kind not in {Kind.TOOL_RESULT, Kind.ERROR}:
            yield Item(role=_ROLES[entry.kind], text=entry.text.strip(), entries=(entry.id,))
            continue
        text = failure(entry.text)
        if text in failures_seen:
            left_out.append(LeftOut(entry=entry.id, role=entry.kind.value, chars=len(entry.text), reason="said before"))
        elif text:
            failures_seen.add(text)
            yield Item(role=Role.ERROR, text=text, entries=(entry.id,))
