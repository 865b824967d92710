"""Define the host Cursor."""

from nous.hosts.base import EventKind, Host, HostEvent, Json, main_agents

_REASONS = {"completed": "exit", "user_close": "exit", "window_close": "exit", "error": "error"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload; None for one of a background agent."""
    return main_agents(kind, payload, reasons=_REASONS)


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
    source="cursor.com/docs/hooks, read in copies of 2026-08 and 2026-09",
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
    project_mcp_settings=".cursor/mcp.json",
)
