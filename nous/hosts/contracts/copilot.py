"""Define the host GitHub Copilot CLI, from release 1.0.21 on."""

from dataclasses import replace

from nous.hosts.base import (
    EventKind,
    Host,
    HostEvent,
    Json,
    additional_context,
    main_agents,
    stdio_server,
    text_of,
)


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload. That of a start or end names no transcript, but a session."""
    event, session = main_agents(kind, payload), text_of(payload, "session_id")
    if event is None or event.transcript or session is None or "/" in session:
        return event
    return replace(event, transcript=str(HOST.folder / HOST.sessions / session / "events.jsonl"))


HOST = Host(
    name="copilot",
    title="Copilot CLI",
    source="bundle and hooks reference of Copilot CLI 1.0.102, 2026-11; events in PascalCase get fields in snake_case",
    home="~/.copilot",
    home_variable="COPILOT_HOME",
    settings="hooks/nous.json",
    project_settings=".github/hooks/nous.json",
    new_settings={"version": 1},
    event_of=event_of,
    # Timeouts are in seconds.
    entry=lambda command, _: {"type": "command", "bash": command, "timeoutSec": 10},
    # Releases differ in which of both forms they read.
    notes=lambda text: {"additionalContext": text, **additional_context(text)},
    sessions="session-state",
    mcp_settings="mcp-config.json",
    project_mcp_settings=".mcp.json",
    server_entry=lambda command: {"type": "local", "tools": ["*"], **stdio_server(command)},
)
