"""A run of tool calls as one line: each call in short, repeats counted, commits by their subject."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from os.path import commonpath
from typing import Any, cast

from nous.calls import commit_subject, named_paths, written_files
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tools.summary import extract_tool_summary

Shorten = Callable[[str], str]

BETWEEN_CALLS = " | "
LONGEST_CALL = 240
_LONGEST_VALUE = 80
_LONGEST_SUBJECT = 120
_SHALLOWEST_ROOT = 2
_COMMITTED = "git commit "


def line_of_calls(run: Sequence[Entry], *, shorten: Shorten) -> str:
    """The calls of *run* in order of their first use; empty if none of them is worth a word."""
    counted = Counter(brief for call in run if (brief := shorten(brief_call(call))))
    return BETWEEN_CALLS.join(f"{brief} x{times}" if times > 1 else brief for brief, times in counted.items())


def brief_call(call: Entry) -> str:
    """One call in at most `LONGEST_CALL` characters; a path is never shortened."""
    given = call.tool_input or {}
    if subject := commit_subject(call):
        return f'{_COMMITTED}"{subject[:_LONGEST_SUBJECT]}"'
    summary = extract_tool_summary(call.tool or "", dict(given)) if call.tool else " ".join(call.text.split())
    if summary == call.tool and given:
        summary = f"{call.tool}({', '.join(_arguments(given))})"
    return summary if len(summary) <= LONGEST_CALL or any(named_paths(call)) else summary[: LONGEST_CALL - 3] + "..."


def is_commit(brief: str) -> bool:
    """Whether *brief* is a commit in short."""
    return brief.startswith(_COMMITTED)


def edited_files(transcript: Transcript) -> Counter[str]:
    """How many calls wrote to each path, in order of the first."""
    calls = (entry for entry in transcript if entry.kind is Kind.TOOL_CALL)
    return Counter(path for call in calls for path in written_files(call))


def shortener(transcript: Transcript) -> Shorten:
    """What takes the directory off a text that all paths of the session have in common."""
    root = _common_root(transcript)
    return (lambda text: text.replace(root, "")) if root else (lambda text: text)


def _common_root(transcript: Transcript) -> str:
    paths = {path for entry in transcript for path in named_paths(entry) if path.startswith("/")}
    cwd = transcript.header.cwd
    if cwd and cwd.startswith("/") and any(path.startswith(f"{cwd}/") for path in paths):
        return f"{cwd.rstrip('/')}/"
    directories = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[0]}
    root = commonpath(directories) if directories else ""
    return f"{root}/" if root.count("/") >= _SHALLOWEST_ROOT else ""


def _leaves(value: object) -> Iterator[str]:
    """What a nested argument says, without the names: `[{"flight": "HAT1", "seats": 2}]` says `HAT1 2`."""
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _leaves(inner)
    else:
        yield str(value)


def _arguments(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        shown = " ".join(" ".join(_leaves(value)).split())
        yield f"{name}={shown if len(shown) <= _LONGEST_VALUE else shown[: _LONGEST_VALUE - 3] + '...'}"
