"""A run of tool calls as one line: each call in short, repeats counted, commits by their subject."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from nous.actions import Action, hands_over, pushes, subject_of_commit, writes
from nous.excerpt.fates import Fate
from nous.excerpt.naming import Naming
from nous.prose import Span
from nous.transcript.model import Entry
from nous.transcript.tools.summary import extract_tool_summary

BETWEEN_CALLS = " | "
LONGEST_CALL = 240
LONGEST_DEED = 400
_LONGEST_VALUE = 80
_SHORT_COMMAND = 40
_LONGEST_SUBJECT = 120
_DEEPEST = 12


class Line(NamedTuple):
    """A line of calls. `parts` are its calls, each with what parts it from the next; `deeds` are those that are deeds.

    A *deed* is a call that changed something outside of the files: a commit, a booking, a message that was sent.
    """

    text: str
    parts: tuple[Span, ...]
    deeds: tuple[Span, ...]


def line_of_calls(run: Sequence[Action], naming: Naming, fates: Mapping[str, Fate]) -> Line:
    """The calls of *run* in order of their first use; empty if none of them is worth a word.

    A call that came to nothing, of which *fates* knows by its id, says so, and what would have been a deed says why. It
    is no deed, but for a commit, of whose command another part may have failed.
    """
    times: dict[str, int] = {}
    deeds: set[str] = set()
    for action in run:
        call, _, command, paths = action
        commit = subject_of_commit(command) if command else None
        is_deed = commit is not None if command else not paths and (writes(action) or hands_over(action))
        brief = _commit(commit, command) if commit else brief_call(action, is_deed=is_deed)
        if brief := naming.brief(brief if brief.isprintable() else " ".join(brief.split()), paths):
            if fate := fates.get(call.id):
                why = f": {reason}" if is_deed and (reason := fate.reason) else ""
                brief, is_deed = f"{brief} ({fate.what}{why})", is_deed and commit is not None
            times[brief] = times.get(brief, 0) + 1
            if is_deed:
                deeds.add(brief)
    pieces = [f"{brief} x{count}" if count > 1 else brief for brief, count in times.items()]
    spans = _spans(pieces)
    of_deeds = (span for brief, span in zip(times, spans, strict=True) if brief in deeds) if deeds else ()
    return Line(BETWEEN_CALLS.join(pieces), tuple(spans), tuple(of_deeds))


def _commit(subject: str, command: str) -> str:
    pushed = f" + {push}" if (push := pushes(command)) else ""
    return f'git commit "{subject[:_LONGEST_SUBJECT]}"{pushed}'


def _spans(pieces: Sequence[str]) -> list[Span]:
    """Where each of *pieces* stands in the line, with what parts it from the next."""
    spans: list[Span] = []
    begun = 0
    for piece in pieces:
        end = begun + len(piece) + len(BETWEEN_CALLS)
        spans.append((begun, end))
        begun = end
    if spans:
        spans[-1] = spans[-1][0], begun - len(BETWEEN_CALLS)
    return spans


def brief_call(action: Action, *, is_deed: bool) -> str:
    """One call in at most `LONGEST_CALL` characters, a deed in `LONGEST_DEED`; none of its paths is ever cut."""
    call, _, command, paths = action
    given = call.tool_input or {}
    if command and (purpose := given.get("description")) and isinstance(purpose, str):
        return _command_for(purpose, command, call)
    summary = extract_tool_summary(call.tool, given, paths) if call.tool and given else _as_written(call)
    if given and summary == call.tool:
        summary = f"{call.tool}({', '.join(_arguments(given, LONGEST_DEED if is_deed else _LONGEST_VALUE))})"
    most = LONGEST_DEED if is_deed else LONGEST_CALL
    return summary if len(summary) <= most or paths else f"{summary[: most - 3]}..."


def _as_written(call: Entry) -> str:
    """A call of which only the text is known. One without input says no more than its tool does."""
    text = " ".join(call.text.split())
    return text if not call.tool or f"{call.tool}(" in text else extract_tool_summary(call.tool)


def _command_for(purpose: str, command: str, call: Entry) -> str:
    """A command by what it is for, and itself if it is short: purpose and command mostly tell the same twice."""
    purpose = " ".join(purpose.split())[:_LONGEST_VALUE]
    return f"{call.tool}({purpose}: {command})" if _is_short(command) else f"{call.tool}({purpose})"


def _is_short(command: str) -> bool:
    return len(command) <= _SHORT_COMMAND and "\n" not in command


def _arguments(given: Mapping[str, Any], most: int) -> Iterator[str]:
    for name, value in given.items():
        shown = " ".join(" ".join(_leaves(value)).split())
        yield f"{name}={shown if len(shown) <= most else f'{shown[: most - 3]}...'}"


def _leaves(value: object, depth: int = 0) -> Iterator[str]:
    """What a nested argument says, without the names: `[{"flight": "HAT1", "seats": 2}]` says `HAT1 2`."""
    if depth > _DEEPEST:
        yield "..."
    elif isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _leaves(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _leaves(inner, depth + 1)
    else:
        yield str(value)
