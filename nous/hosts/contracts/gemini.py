"""Define the host Gemini CLI."""

from nous.hosts.base import EventKind, Host, HostEvent, Json, additional_context, main_agents

_REASONS = {"clear": "clear", "logout": "logout", "exit": "exit", "prompt_input_exit": "exit"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload; None for one of a sub-agent."""
    return main_agents(kind, payload, reasons=_REASONS)


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. Timeouts are in milliseconds."""
    del kind
    return {"hooks": [{"type": "command", "name": "nous", "command": command, "timeout": 10_000}]}


HOST = Host(
    name="gemini",
    title="Gemini CLI",
    source="docs/hooks/reference.md of @google/gemini-cli-core 0.61.0, 2026-11",
    home="~/.gemini",
    settings="settings.json",
    project_settings=".gemini/settings.json",
    hooks={
        "SessionStart": EventKind.START,
        "AfterAgent": EventKind.TURN,
        "PreCompress": EventKind.COMPACTING,
        "SessionEnd": EventKind.END,
    },
    event_of=event_of,
    entry=entry,
    notes=additional_context,
    sessions="tmp",
    mcp_settings="settings.json",
    project_mcp_settings=".gemini/settings.json",
)
