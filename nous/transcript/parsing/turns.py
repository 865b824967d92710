"""Convert draft entries to final ones: turn numbers, unique ids, merged answers, cut text."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nous.domain.errors import BadInput
from nous.transcript.model import Entry, Kind, ReadNotes
from nous.transcript.parsing.user_text import INJECTED, OWN_TOOLS, has_insertions, without_insertions
from nous.transcript.parsing.values import as_list, as_object, cut
from nous.transcript.reader import Draft

RESULT_LIMIT = 4_000
"""Limit in characters kept of a tool's output or a call's argument: nearly all text of a coding session."""

TEXT_LIMIT = 1_000_000
"""Limit in characters kept of any other text."""

EXTRAS = {"thinking": "thinking", "meta": "meta message", "sidechains": "sidechain"}
"""Groups of entries that are left out unless included by name, and the reasons by which they are counted."""


def extras(names: Collection[str]) -> frozenset[str]:
    """Return *names* as a set if `EXTRAS` contains all of them; raises BadInput otherwise."""
    if unknown := set(names) - EXTRAS.keys():
        raise BadInput(f"{', '.join(sorted(unknown))} cannot be included; choose of {', '.join(sorted(EXTRAS))}")
    return frozenset(names)


# Looking up an enum member is slow, and every entry passes here.
_USER, _ASSISTANT, _THINKING = Kind.USER, Kind.ASSISTANT, Kind.THINKING
_OUTPUT = frozenset({Kind.TOOL_RESULT, Kind.ERROR})
_DEEPEST = 50
"""Levels kept of a nested argument, because JSON may be nested deeper than Python can recurse."""


@dataclass(slots=True)
class Finishing:
    """Turns drafts into entries: numbers them by turn and makes each id unique.

    A user prompt begins a turn. Consecutive parts of one answer have a common id and become one entry. So an answer is
    held back until another draft follows, or `conclude`. All state is plain values, as in a `Reading`.
    """

    result_limit: int = RESULT_LIMIT
    include: frozenset[str] = frozenset()
    turn: int = 0
    ids: set[str] = field(default_factory=set[str])
    again: dict[str, int] = field(default_factory=dict[str, int])
    held: Draft | None = None

    def entries(self, drafts: Iterable[Draft], notes: ReadNotes) -> Iterator[Entry]:
        """Yield the entries that *drafts* complete; count left-out ones in *notes*."""
        for draft in drafts:
            if (extra := _extra(draft)) and extra not in self.include:
                notes.skip(EXTRAS[extra])
                continue
            if reason := _not_of_this_session(draft):
                notes.skip(reason)
            if not draft.text and reason:
                continue
            held, is_answer = self.held, draft.kind is _ASSISTANT
            if held and is_answer and held.id == draft.id:
                held.text = f"{held.text}\n\n{draft.text}"
                continue
            if held:
                yield self._finished(held)
            self.held = draft if is_answer else None
            if not is_answer:
                yield self._finished(draft)

    def conclude(self) -> Iterator[Entry]:
        """Yield the entry that was held back; no draft follows."""
        if self.held:
            yield self._finished(self.held)
            self.held = None

    def _finished(self, draft: Draft) -> Entry:
        kind, text = draft.kind, draft.text
        limit = self.result_limit if kind in _OUTPUT else TEXT_LIMIT
        if kind is _USER and draft.agent is None and not draft.is_meta:
            self.turn += 1
        own = draft.id
        if own in self.ids:
            own = self._unused(own)
        self.ids.add(own)
        return Entry(
            kind,
            cut(text, limit) if len(text) > limit else text,
            own,
            self.turn,
            draft.time,
            draft.tool,
            draft.tool_input and _cut_value(draft.tool_input, self.result_limit),
            draft.call_id,
            draft.is_error,
            draft.line,
            draft.offset,
            draft.paths,
            draft.agent,
            draft.is_meta,
        )

    def _unused(self, own: str) -> str:
        number = self.again.get(own, 1)
        while (candidate := f"{own}#{(number := number + 1)}") in self.ids:
            pass
        self.again[own] = number
        return candidate


def _not_of_this_session(draft: Draft) -> str | None:
    """Drop what programs injected, and answers of this memory; return the reason, if any."""
    if draft.tool and draft.kind in _OUTPUT and draft.tool.startswith(OWN_TOOLS):
        draft.text = ""
        return "answer of this memory"
    if not has_insertions(draft.text):
        return None
    draft.text = without_insertions(draft.text)
    return INJECTED


def _extra(draft: Draft) -> str:
    if draft.agent is not None:
        return "sidechains"
    return "meta" if draft.is_meta else "thinking" if draft.kind is _THINKING else ""


def _cut_value(value: Any, limit: int, depth: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return cut(value, limit)
    if not depth:
        return "..." if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return {name: _cut_value(inner, limit, depth - 1) for name, inner in as_object(value).items()}
    if isinstance(value, list):
        return [_cut_value(inner, limit, depth - 1) for inner in as_list(value)]
    return value
