"""Define the host Qwen Code."""

from nous.hosts.base import MOMENTS, EventKind, Host, HostEvent, Json, additional_context, main_agents

_REASONS = {"clear": "clear", "logout": "logout", "prompt_input_exit": "exit"}


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload; None for one of a sub-agent."""
    return main_agents(kind, payload, reasons=_REASONS)


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. All releases read a timeout over 1,000 as milliseconds."""
    del kind
    return {"hooks": [{"type": "command", "name": "nous", "command": command, "timeout": 10_000}]}


HOST = Host(
    name="qwen",
    title="Qwen Code",
    source="bundle of Qwen Code 0.24.4, 2026-11",
    home="~/.qwen",
    home_variable="QWEN_HOME",
    settings="settings.json",
    project_settings=".qwen/settings.json",
    hooks=MOMENTS,
    event_of=event_of,
    entry=entry,
    notes=additional_context,
    sessions="projects",
    mcp_settings="settings.json",
    project_mcp_settings=".qwen/settings.json",
)
