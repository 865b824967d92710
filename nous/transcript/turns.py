"""Entries on their way from a reader to a transcript: numbered by turn, named apart, and cut to size."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nous.transcript.base import Notes
from nous.transcript.fields import as_list, as_object
from nous.transcript.model import Entry, Kind

RESULT_LIMIT = 4_000
"""Characters of a tool's output, or of an argument of a call, that are kept. Nearly all of a coding session is that."""

TEXT_LIMIT = 1_000_000
"""Characters of anything else that are kept."""

_OUTPUT = frozenset({Kind.TOOL_RESULT, Kind.ERROR})
_HEAD = 0.7


def finished(entries: Iterable[Entry], notes: Notes, *, result_limit: int, thinking: bool) -> Iterator[Entry]:
    """Number *entries* by turn (a user's prompt begins one) and make each id unique; cut what is too long.

    Thinking is passed over, and counted, unless *thinking* is asked for.
    """
    turn = 0
    ids: set[str] = set()
    for entry in _joined(entries):
        if entry.kind is Kind.THINKING and not thinking:
            notes.skip("thinking")
            continue
        turn += entry.kind is Kind.USER
        own = entry.id if entry.id not in ids else _unused(entry.id, ids)
        ids.add(own)
        text = cut(entry.text, result_limit if entry.kind in _OUTPUT else TEXT_LIMIT)
        given = entry.tool_input and _cut_value(entry.tool_input, result_limit)
        yield _placed(entry, own=own, turn=turn, text=text, tool_input=given)


def _placed(entry: Entry, *, own: str, turn: int, text: str, tool_input: Mapping[str, Any] | None) -> Entry:
    # dataclasses.replace would take twice as long, and this is done for every entry there is.
    return Entry(
        kind=entry.kind,
        text=text,
        id=own,
        turn=turn,
        time=entry.time,
        tool=entry.tool,
        tool_input=tool_input,
        call_id=entry.call_id,
        is_error=entry.is_error,
        line=entry.line,
        offset=entry.offset,
    )


def cut(text: str, limit: int) -> str:
    """*text*, or its beginning and end (7 : 3) around a mark that says how many characters are missing.

    The mark itself is not counted in *limit*.
    """
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD)
    tail = limit - head
    return f"{text[:head]}\n\n... [truncated {len(text) - limit} chars] ...\n\n{text[len(text) - tail :]}"


def _joined(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Parts of one answer, told by their common id, as one entry if nothing stands between them."""
    held: Entry | None = None
    for entry in entries:
        if held and held.kind is entry.kind is Kind.ASSISTANT and held.id == entry.id:
            held = replace(held, text=f"{held.text}\n\n{entry.text}")
            continue
        if held:
            yield held
        held = entry
    if held:
        yield held


def _unused(own: str, ids: set[str]) -> str:
    number = 2
    candidate = own
    while candidate in ids:
        candidate = f"{own}#{number}"
        number += 1
    return candidate


def _cut_value(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, dict):
        return {name: _cut_value(inner, limit) for name, inner in as_object(value).items()}
    if isinstance(value, list):
        return [_cut_value(inner, limit) for inner in as_list(value)]
    return value
