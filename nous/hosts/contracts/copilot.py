"""Define the host GitHub Copilot CLI."""

from nous.hosts.base import EventKind, Host, HostEvent, Json, text_of

_REASONS = {"complete": "exit", "user_exit": "exit", "error": "error"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload, in either spelling of its fields."""
    if payload.get("agent_id"):
        return None
    transcript = text_of(payload, "transcriptPath", "transcript_path")
    reason = _REASONS.get(str(payload.get("reason")), "other")
    return HostEvent(kind=kind, transcript=transcript, cwd=text_of(payload, "cwd"), reason=reason)


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. Timeouts are in seconds."""
    del kind
    return {"type": "command", "bash": command, "timeoutSec": 10}


def notes(text: str) -> Json:
    """Return notes as the SDK of Copilot expects them; some releases of its CLI ignore them."""
    return {"additionalContext": text}


HOST = Host(
    name="copilot",
    title="Copilot CLI",
    source="types of @github/copilot-sdk 1.0.14, 2026-11",
    home="~/.copilot",
    home_variable="COPILOT_HOME",
    settings="hooks/nous.json",
    project_settings=".github/hooks/nous.json",
    new_settings={"version": 1},
    hooks={
        "sessionStart": EventKind.START,
        "agentStop": EventKind.TURN,
        "preCompact": EventKind.COMPACTING,
        "sessionEnd": EventKind.END,
    },
    event_of=event_of,
    entry=entry,
    notes=notes,
    sessions="session-state",
    mcp_settings="mcp-config.json",
    mcp_table="mcpServers",
)
