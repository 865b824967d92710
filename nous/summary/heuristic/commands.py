"""Find the test, build, lint and format commands that a session ran, and which passed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from nous.text.language import patterns, tables
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action


class Purpose(StrEnum):
    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    FORMAT = "format"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """One run of a command in a directory; not `is_whole` if it selects some tests or files."""

    purpose: Purpose
    command: str
    directory: str
    turn: int
    place: int
    passed: bool
    is_whole: bool


_TABLES = tables("nous.summary.heuristic", "patterns")
_PATTERNS = patterns("nous.summary.heuristic", "patterns", "commands")
_KNOWN = {
    Purpose(name): re.compile(
        "".join(pieces).replace("{runner}", _TABLES["runner"]).replace("{wrapped}", _TABLES["wrapped"])
    )
    for name, pieces in _TABLES["known"].items()
}
_LEAD = re.compile(r"(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|command|timeout(?: -\S+)* \S+)\s+)*")
_PART = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECTED = re.compile(r"\s*(?:\d?>&?|&>|<|\|).*|\s+--?\s*\Z", re.DOTALL)
_CHANGE_DIRECTORY = re.compile(r"cd\s+(['\"]?)([^'\"\s]+)\1\Z")
_READ = 10_000  # characters of a command line; a longer one writes a file
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?\n\1\b", re.DOTALL)
_MANNER = _PATTERNS["manner"]
_PICKS = _PATTERNS["picks"]
_FAILED = _PATTERNS["failed"]
_NOTHING_RAN = _PATTERNS["nothing_ran"]
_SOMETHING_RAN = _PATTERNS["something_ran"]
_VERDICT_CHARS = 4_000  # characters at the end of a result in which its verdict is looked for
_RESULTS = frozenset({Kind.TOOL_RESULT, Kind.ERROR, Kind.DECISION})


def results_by_call(transcript: Transcript) -> Mapping[str, Entry]:
    """Return the result of each call by the id of its entry; the latest call of an id counts."""
    calls: dict[str, str] = {}
    results: dict[str, Entry] = {}
    for entry in transcript:
        if entry.kind is Kind.TOOL_CALL and entry.call_id:
            calls[entry.call_id] = entry.id
        elif entry.kind in _RESULTS and not entry.text.startswith("Approved"):
            call = calls.get(entry.call_id or "")
            if call and (call not in results or is_undone(entry)):
                results[call] = entry
    return results


def is_undone(result: Entry | None) -> bool:
    """Return whether a call with that *result* was rejected, or failed."""
    return result is not None and (result.kind in {Kind.DECISION, Kind.ERROR} or result.is_error)


def has_passed(result: Entry) -> bool:
    """Return whether a command with that *result* passed; a test run without tests did not."""
    ending = result.text[-_VERDICT_CHARS:]
    is_idle = _NOTHING_RAN.search(ending) and not _SOMETHING_RAN.search(ending)
    return not (is_undone(result) or is_idle or _FAILED.search(ending))


def runs_of(action: Action, result: Entry | None, place: int, home: str) -> Iterator[CommandRun]:
    """Yield the known runs in a command line; without a result, or rejected, nothing ran.

    None is known to have failed if the line did, shows no failure of theirs, and ends with something else.
    """
    if not action.command or result is None or result.kind is Kind.DECISION:
        return
    passed = has_passed(result)
    run = partial(CommandRun, turn=action.call.turn, place=place, passed=passed)
    found, purpose, directory = list[CommandRun](), None, ""
    for part in filter(str.strip, _PART.split(_HEREDOC.sub("", action.command[:_READ]))):
        if moved := _CHANGE_DIRECTORY.match(part.strip()):
            directory = _below(moved[2], home)
            continue
        command = " ".join(_REDIRECTED.sub("", _LEAD.sub("", part.strip(), count=1)).split())
        command = _MANNER.sub("", command).removesuffix(" --")
        purpose = next((purpose for purpose, known in _KNOWN.items() if known.match(command)), None)
        if purpose:
            is_whole = not _PICKS.search(command)
            found.append(run(purpose=purpose, command=command, directory=directory, is_whole=is_whole))
    if passed or purpose or _FAILED.search(result.text[-_VERDICT_CHARS:]):
        yield from found


def usual(runs: Sequence[CommandRun]) -> list[CommandRun]:
    """Return the run of each purpose and directory that passed most often, the latest of equals."""
    chosen: dict[tuple[Purpose, str], CommandRun] = {}
    whole = [run for run in runs if run.passed and run.is_whole]
    counts = Counter((run.purpose, run.directory, run.command) for run in whole)
    for run in whole:
        key = (run.purpose, run.directory)
        best = chosen.get(key)
        if best is None or counts[(*key, run.command)] >= counts[(*key, best.command)]:
            chosen[key] = run
    return list(chosen.values())


def _below(directory: str, home: str) -> str:
    path, base = directory.rstrip("/"), home.rstrip("/")
    if base and (path == base or path.startswith(f"{base}/")):
        return path[len(base) + 1 :]
    return "" if path in {".", "~"} else path
