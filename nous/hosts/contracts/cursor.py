"""Define the host Cursor."""

from typing import cast

from nous.hosts.base import EventKind, Host, HostEvent, Json, text_of

_REASONS = {"completed": "exit", "user_close": "exit", "window_close": "exit", "error": "error"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload; None for one of a background agent."""
    if payload.get("is_background_agent"):
        return None
    roots = payload.get("workspace_roots")
    first = next((root for root in cast("list[object]", roots) if isinstance(root, str)), None) if roots else None
    reason = _REASONS.get(str(payload.get("reason")), "other")
    return HostEvent(kind=kind, transcript=text_of(payload, "transcript_path"), cwd=first, reason=reason)


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. Timeouts are in seconds."""
    del kind
    return {"command": command, "timeout": 10}


def notes(text: str) -> Json:
    """Return notes as Cursor expects them at a session's start."""
    return {"additional_context": text}


HOST = Host(
    name="cursor",
    title="Cursor",
    source="cursor.com/docs/agent/hooks, as reported for 3.13, 2026-11",
    home="~/.cursor",
    settings="hooks.json",
    project_settings=".cursor/hooks.json",
    new_settings={"version": 1},
    hooks={
        "sessionStart": EventKind.START,
        "stop": EventKind.TURN,
        "preCompact": EventKind.COMPACTING,
        "sessionEnd": EventKind.END,
    },
    event_of=event_of,
    entry=entry,
    notes=notes,
    sessions="projects",
    mcp_settings="mcp.json",
    mcp_table="mcpServers",
)
