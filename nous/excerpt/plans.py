"""What an agent set down to do: a plan that it put forward, its list of tasks."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from nous.transcript.model import Entry

_LISTS = ("todos", "plan", "items", "tasks")
_TEXTS = ("plan", "content", "step", "subject", "title", "task", "description", "text")
_MOST_LINES = 400
_DEEPEST = 4


def plan_of(call: Entry, seen: set[str]) -> str:
    """The lines that *call*, which keeps the books, sets down and that are not in *seen*, to which they are added.

    A list of tasks is written anew whenever one of them is done, and a plan whenever it is rejected: only what changes
    is told again.
    """
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
