"""Transcripts of the sub-agents of a session, where agents keep them beside the session's own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nous.transcript.model import Entry, Kind, SubAgent

_NAMED_IN_RESULT = re.compile(r"\bagentId: *(\w{4,64})")
FOLDER = "subagents"
"""Where they lie."""


def sub_agents_beside(path: Path, entries: Sequence[Entry]) -> tuple[SubAgent, ...]:
    """The sub-agents of the session at *path* with *entries*, by their ids; none if it is a sub-agent's itself.

    Claude Code keeps them in `<session>/subagents/agent-<id>.jsonl`, qbit in `subagents/<id>-<call>/transcript.json`,
    Cursor in `subagents/<id>.jsonl`. Raises OSError.
    """
    if FOLDER in {path.parent.name, path.parent.parent.name}:
        return ()
    found = {_name_of(place): place for place in _places(path)}
    calls = _calls_by_agent(entries, found)
    return tuple(SubAgent(name, str(place), calls.get(name)) for name, place in sorted(found.items()))


def _places(path: Path) -> Iterator[Path]:
    own = path.name.partition(".")[0]
    for folder in (path.parent / own / FOLDER, path.parent / FOLDER):
        if folder.is_dir():
            yield from folder.glob("*.jsonl")
            yield from folder.glob("*/transcript.json")


def _name_of(place: Path) -> str:
    return place.parent.name if place.name == "transcript.json" else place.stem.removeprefix("agent-")


def _calls_by_agent(entries: Iterable[Entry], names: Iterable[str]) -> dict[str, str]:
    """Which call started a sub-agent: its result names the agent, or the agent is called after it."""
    known = frozenset(names)
    calls: dict[str, str] = {}
    for entry in entries:
        if entry.call_id is None:
            continue
        if entry.kind is Kind.TOOL_CALL:
            calls |= {name: entry.call_id for name in known if name.endswith(f"-{entry.call_id}")}
        elif entry.kind is Kind.TOOL_RESULT:
            calls |= {name: entry.call_id for name in _NAMED_IN_RESULT.findall(entry.text) if name in known}
    return calls
