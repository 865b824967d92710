"""Contract of a host: data, and a pure function from the payload of a hook to an event."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import orjson

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


MOMENTS = {
    "SessionStart": EventKind.START,
    "Stop": EventKind.TURN,
    "PreCompact": EventKind.COMPACTING,
    "SessionEnd": EventKind.END,
}
"""Events of Claude Code, and of hosts that took over its names."""


def stdio_server(command: Sequence[str]) -> Json:
    """Return the entry of an MCP server as most hosts write it."""
    return {"command": command[0], "args": list(command[1:])}


def additional_context(notes: str) -> Json:
    """Return notes as Claude Code and most hosts expect them at a session's start."""
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": notes}}


def text_of(payload: Json, *names: str) -> str | None:
    return next((found for name in names if isinstance(found := payload.get(name), str) and found.strip()), None)


_REASONS = {
    **{reason: reason for reason in ("clear", "resume", "logout", "exit", "error")},
    **dict.fromkeys(("prompt_input_exit", "complete", "completed", "user_exit", "user_close", "window_close"), "exit"),
}
"""Reasons for the end of a session in the words of hosts, and in ours."""


def main_agents(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload whose fields are named as in Claude Code or Cursor.

    None for one of a sub-agent or background agent. Cursor runs the hooks of Claude Code, too, with its own fields.
    """
    if payload.get("agent_id") or payload.get("is_background_agent"):
        return None
    roots = payload.get("workspace_roots")
    first = cast("list[object]", roots)[:1] if isinstance(roots, list) else []
    cwd = text_of(payload, "cwd") or text_of({"root": first[0]} if first else {}, "root")
    reason = _REASONS.get(str(payload.get("reason")), "other")
    return HostEvent(kind=kind, transcript=text_of(payload, "transcript_path"), cwd=cwd, reason=reason)


@dataclass(frozen=True, kw_only=True)
class Host:
    """Contract of one host.

    `source` says where it is documented, and when that was read. `home` is the folder of its settings and sessions,
    unless the environment variable `home_variable` names another; `settings`, `mcp_settings` and `sessions` are paths
    in it, `project_settings` and `project_mcp_settings` in a project. `hooks` has the kind of each of its events that
    it reports. `event_of` reads a payload, and returns None if nothing follows from it. `entry` is the entry of a
    command in the settings, below `hooks` and the event, and `notes` wraps notes as it expects them on standard output.
    A host without settings for hooks has a `plugin` in their place: the whole file, of interpreter, hook and a folder
    for sessions. `server_entry` is the entry of an MCP server by its command, in the table `mcp_table`. `is_trusted`
    says by the content of a TOML file `mcp_settings` whether the host runs the hooks of a settings file.
    """

    name: str
    title: str
    source: str
    home: str
    home_variable: str | None = None
    settings: str
    project_settings: str
    new_settings: Json = field(default_factory=dict[str, Any])
    hooks: Mapping[str, EventKind] = field(default_factory=lambda: MOMENTS)
    event_of: Callable[[EventKind, Json], HostEvent | None] = main_agents
    entry: Callable[[str, EventKind], Json] = lambda command, _: {"command": command}
    plugin: Callable[[str, str, str], str] | None = None
    notes: Callable[[str], Json] = additional_context
    sessions: str
    mcp_settings: str
    project_mcp_settings: str
    mcp_table: str = "mcpServers"
    server_entry: Callable[[Sequence[str]], Json] = stdio_server
    left_to_do: str = ""
    is_trusted: Callable[[Json, str], bool] = lambda _, __: True

    @property
    def folder(self) -> Path:
        named = os.environ.get(self.home_variable) if self.home_variable else None
        return Path(named or self.home).expanduser()

    def printed(self, notes: str) -> bytes:
        return orjson.dumps(self.notes(notes))
