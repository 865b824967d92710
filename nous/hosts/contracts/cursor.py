"""Define the host Cursor."""

from nous.hosts.base import EventKind, Host

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
    # Timeouts are in seconds.
    entry=lambda command, _: {"command": command, "timeout": 10},
    notes=lambda text: {"additional_context": text},
    sessions="projects",
    mcp_settings="mcp.json",
    project_mcp_settings=".cursor/mcp.json",
)
