"""Drafts on their way from a reader to a transcript: numbered by turn, named apart, and cut to size."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.domain.errors import BadInput
from nous.transcript.model import Entry, Kind, Notes
from nous.transcript.parsing.values import LONGEST_MARK, as_list, as_object, cut, is_cut
from nous.transcript.reader import Draft

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


# Every entry passes here, and a member of an enum is looked up slowly.
_USER, _ASSISTANT, _THINKING = Kind.USER, Kind.ASSISTANT, Kind.THINKING
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
    again: dict[str, int] = field(default_factory=dict[str, int])
    held: Draft | None = None

    def entries(self, drafts: Iterable[Draft], notes: Notes) -> Iterator[Entry]:
        """The entries that are complete with *drafts*."""
        for draft in drafts:
            is_extra = draft.agent is not None or draft.is_meta or draft.kind is _THINKING
            if is_extra and (extra := _extra(draft)) not in self.include:
                notes.skip(_PASSED_OVER[extra])
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
        """Nothing follows: the entry that was held back."""
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
            _cut_once(text, limit) if len(text) > limit else text,
            own,
            self.turn,
            draft.time,
            draft.tool,
            draft.tool_input and _cut_input(draft.tool_input, self.result_limit),
            draft.call_id,
            draft.is_error,
            draft.line,
            draft.offset,
            draft.paths,
            draft.agent,
            draft.is_meta,
        )

    def _unused(self, own: str) -> str:
        """The id *own* with a number, from 2 on, that no entry has."""
        number = self.again.get(own, 1)
        while (candidate := f"{own}#{(number := number + 1)}") in self.ids:
            pass
        self.again[own] = number
        return candidate


_PASSED_OVER = {"thinking": "thinking", "meta": "meta message", "sidechains": "sidechain"}


def _extra(draft: Draft) -> str:
    return "sidechains" if draft.agent is not None else "meta" if draft.is_meta else "thinking"


def _cut_once(text: str, limit: int) -> str:
    """*text* cut to *limit*, unless that was done when it was written."""
    if len(text) <= limit or (len(text) <= limit + LONGEST_MARK and is_cut(text, limit)):
        return text
    return cut(text, limit)


def _cut_input(given: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """*given*, or a copy in which long values are cut."""
    for value in given.values():
        if (isinstance(value, str) and len(value) > limit) or isinstance(value, dict | list):
            return _cut_value(given, limit)
    return given


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
