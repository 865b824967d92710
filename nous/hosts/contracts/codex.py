"""Define the host Codex CLI, from release 0.146 on."""

from typing import cast

from nous.hosts.base import EventKind, Host, Json


def entry(command: str, kind: EventKind) -> Json:
    """Return the settings of a hook. At the end, Codex warns of other timeouts than 3 seconds."""
    return {"hooks": [{"type": "command", "command": command, "timeout": 3 if kind is EventKind.END else 10}]}


def is_trusted(config: Json, hooks: str) -> bool:
    """Return whether each event of nous in the file *hooks* has an entry in the state of hooks."""
    stored = config.get("hooks")
    state = cast("Json", stored).get("state") if isinstance(stored, dict) else None
    events = {str(key).removeprefix(f"{hooks}:").partition(":")[0] for key in cast("Json", state or {})}
    return {"session_start", "stop", "pre_compact", "session_end"} <= events


HOST = Host(
    name="codex",
    title="Codex CLI",
    source="schemas of Codex CLI 0.171, 2026-11",
    home="~/.codex",
    home_variable="CODEX_HOME",
    settings="hooks.json",
    project_settings=".codex/hooks.json",
    entry=entry,
    sessions="sessions",
    mcp_settings="config.toml",
    project_mcp_settings=".codex/config.toml",
    mcp_table="mcp_servers",
    left_to_do="Codex skips hooks that you have not trusted: type /hooks in Codex, and trust those of nous.",
    is_trusted=is_trusted,
)
