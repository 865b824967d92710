"""Define the host Claude Code."""

from nous.hosts.base import MOMENTS, EventKind, Host, HostEvent, Json, additional_context, main_agents, stdio_server

_REASONS = {"clear": "clear", "resume": "resume", "logout": "logout", "prompt_input_exit": "exit"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload; None for one of a sub-agent."""
    return main_agents(kind, payload, reasons=_REASONS)


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. Timeouts are in seconds; the default is short at the end."""
    del kind
    return {"hooks": [{"type": "command", "command": command, "timeout": 10}]}


HOST = Host(
    name="claude-code",
    title="Claude Code",
    source="types of @anthropic-ai/claude-agent-sdk 0.3.332; code.claude.com/docs/en/hooks, 2026-11",
    home="~/.claude",
    home_variable="CLAUDE_CONFIG_DIR",
    settings="settings.json",
    project_settings=".claude/settings.local.json",
    hooks=MOMENTS,
    event_of=event_of,
    entry=entry,
    notes=additional_context,
    sessions="projects",
    mcp_settings="../.claude.json",
    project_mcp_settings=".mcp.json",
    server_entry=lambda command: {"type": "stdio", **stdio_server(command)},
)
