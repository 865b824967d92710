"""Drafts on their way from a reader to a transcript: numbered by turn, named apart, and cut to size."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nous.errors import BadInput
from nous.transcript.base import Draft
from nous.transcript.model import Entry, Kind
from nous.transcript.notes import Notes
from nous.transcript.reading.cut import LONGEST_MARK, cut, is_cut
from nous.transcript.reading.fields import as_list, as_object

RESULT_LIMIT = 4_000
"""Characters of a tool's output, or of an argument of a call, that are kept. Nearly all of a coding session is that."""

TEXT_LIMIT = 1_000_000
"""Characters of anything else that are kept."""

EXTRAS = frozenset({"thinking", "meta", "sidechains"})
"""What is passed over, and counted, unless it is asked for."""

def extras(names: Collection[str]) -> frozenset[str]:
    """*names*, if all of them are of `EXTRAS`; BadInput otherwise."""
    if unknown := set(names) - EXTRAS:
        raise BadInput(f"{', '.join(sorted(unknown))} cannot be included; choose of {', '.join(sorted(EXTRAS))}")
    return frozenset(names)


_OUTPUT = frozenset({Kind.TOOL_RESULT, Kind.ERROR})
_DEEPEST = 50
"""Levels of an argument that are kept: JSON may be nested deeper than Python can follow."""


@dataclass(slots=True)
class Finishing:
    """Makes entries of drafts. It numbers them by turn (a user's prompt begins one) and makes each id unique.

    Parts of one answer, told by their common id, become one entry if nothing stands between them; so an answer is held
    back until something else comes, or `conclude`. All it remembers are plain values, as in a `Reading`.
    """

    result_limit: int = RESULT_LIMIT
    include: frozenset[str] = frozenset()
    turn: int = 0
    ids: set[str] = field(default_factory=set[str])
    held: Draft | None = None

    def entries(self, drafts: Iterable[Draft], notes: Notes) -> Iterator[Entry]:
        """The entries that are complete with *drafts*."""
        for draft in drafts:
            if (extra := _extra(draft)) and extra not in self.include:
                notes.skip(_PASSED_OVER[extra])
                continue
            held, is_answer = self.held, draft.kind is Kind.ASSISTANT
            if held and is_answer and held.id == draft.id:
                held.text = f"{held.text}\n\n{draft.text}"
                continue
            if held:
                yield self._finished(held)
            self.held = draft if is_answer else None
            if not is_answer:
                yield self._finished(draft)

    def conclude(self) -> Iterator[Entry]:
        """Nothing follows: the entry that was held back."""
        if self.held:
            yield self._finished(self.held)
            self.held = None

    def _finished(self, draft: Draft) -> Entry:
        kind = draft.kind
        if kind is Kind.USER and draft.agent is None and not draft.is_meta:
            self.turn += 1
        own = draft.id if draft.id not in self.ids else _unused(draft.id, self.ids)
        self.ids.add(own)
        return Entry(
            kind=kind,
            text=_cut_once(draft.text, self.result_limit if kind in _OUTPUT else TEXT_LIMIT),
            id=own,
            turn=self.turn,
            time=draft.time,
            tool=draft.tool,
            tool_input=draft.tool_input and _cut_value(draft.tool_input, self.result_limit),
            call_id=draft.call_id,
            is_error=draft.is_error,
            line=draft.line,
            offset=draft.offset,
            paths=draft.paths,
            agent=draft.agent,
            is_meta=draft.is_meta,
        )


_PASSED_OVER = {"thinking": "thinking", "meta": "meta message", "sidechains": "sidechain"}


def _extra(draft: Draft) -> str | None:
    if draft.agent is not None:
        return "sidechains"
    if draft.is_meta:
        return "meta"
    return "thinking" if draft.kind is Kind.THINKING else None


def _cut_once(text: str, limit: int) -> str:
    """*text* cut to *limit*, unless that was done when it was written."""
    if len(text) <= limit or (len(text) <= limit + LONGEST_MARK and is_cut(text, limit)):
        return text
    return cut(text, limit)


def _unused(own: str, ids: set[str]) -> str:
    number = 2
    candidate = own
    while candidate in ids:
        candidate = f"{own}#{number}"
        number += 1
    return candidate


def _cut_value(value: Any, limit: int, depth: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return _cut_once(value, limit)
    if not depth:
        return "..." if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return {name: _cut_value(inner, limit, depth - 1) for name, inner in as_object(value).items()}
    if isinstance(value, list):
        return [_cut_value(inner, limit, depth - 1) for inner in as_list(value)]
    return value
