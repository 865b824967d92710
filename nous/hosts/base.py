"""Contract between nous and a host: a program whose agents tell of their sessions by hooks.

Each module in `nous.hosts.contracts` describes one host, by data and one pure function. A distribution adds its own by
an entry point of the group `nous.hosts`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from nous.domain.errors import Misconfigured, NotFound
from nous.domain.plug_ins import PlugIns
from nous.hosts import contracts

CONTRACTS = PlugIns(contracts, attribute="HOST", group="nous.hosts")

LONGEST_NOTES = 9500
"""Characters of notes at a session's start: hosts cut what is longer than 10,000."""

Json = Mapping[str, Any]


class EventKind(StrEnum):
    """Moment of a session at which a host runs a hook."""

    START = "start"
    TURN = "turn"
    COMPACTING = "compacting"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEvent:
    """One moment of a session; `transcript` is the path of its file, which may not be there yet."""

    kind: EventKind
    transcript: str | None
    cwd: str | None
    reason: str = "other"


@dataclass(frozen=True, kw_only=True)
class Host:
    """Contract of one host.

    `source` says where it is documented, and when that was read. `home` is the folder of its settings and sessions,
    unless the environment variable `home_variable` names another; `settings`, `project_settings`, `mcp_settings` and
    `sessions` are paths in it, or in a project. `hooks` has the kind of each of its events that nous is told of.
    `event_of` reads a payload, and returns None if nothing follows from it. `entry` is the entry of a command in the
    settings, below `hooks` and the event, and `notes` wraps notes as it expects them on standard output.
    """

    name: str
    title: str
    source: str
    home: str
    home_variable: str | None = None
    settings: str
    project_settings: str
    new_settings: Json
    hooks: Mapping[str, EventKind]
    event_of: Callable[[EventKind, Json], HostEvent | None]
    entry: Callable[[str, EventKind], Json]
    notes: Callable[[str], Json]
    sessions: str
    mcp_settings: str
    mcp_table: str
    left_to_do: str = ""

    @cached_property
    def folder(self) -> Path:
        """The folder of its settings and sessions, for this user."""
        named = os.environ.get(self.home_variable) if self.home_variable else None
        return Path(named or self.home).expanduser()

    def printed(self, notes: str) -> bytes:
        """Return what a hook prints at a session's start."""
        return orjson.dumps(self.notes(notes))


def hosts() -> Mapping[str, Host]:
    """Return every host by name. Raises `Misconfigured` for a plug-in that is none."""
    found = {each.name: each for each in CONTRACTS.all().values() if isinstance(each, Host)}
    if len(found) != len(CONTRACTS.names()):
        raise Misconfigured(f"a plug-in of {CONTRACTS.group} is no Host, or two have the same name")
    return found


def host_named(name: str) -> Host:
    """Return one host. Raises `NotFound`."""
    found = hosts()
    if name not in found:
        raise NotFound(f"there is no host {name!r}; there are {', '.join(sorted(found))}")
    return found[name]


def text_of(payload: Json, *names: str) -> str | None:
    """Return the first field of *names* that holds text."""
    return next((found for name in names if isinstance(found := payload.get(name), str) and found.strip()), None)


def main_agents(
    kind: EventKind, payload: Json, *, reasons: Mapping[str, str], transcript: str = "transcript_path"
) -> HostEvent | None:
    """Return the event of a payload whose fields are named as in Claude Code; None for a sub-agent's."""
    if payload.get("agent_id"):
        return None
    reason = reasons.get(str(payload.get("reason")), "other")
    return HostEvent(kind=kind, transcript=text_of(payload, transcript), cwd=text_of(payload, "cwd"), reason=reason)


def additional_context(notes: str) -> Json:
    """Return notes as Claude Code, Codex, Gemini CLI and Qwen Code expect them at a session's start."""
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": notes}}
