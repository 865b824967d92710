"""Define the host OpenCode 1.x, by a plugin in JavaScript."""

from importlib.resources import files

from nous.hosts.base import EventKind, Host, HostEvent, Json, main_agents


def event_of(kind: EventKind, payload: Json) -> HostEvent | None:
    """Return the event of a payload, which the plugin makes."""
    return main_agents(kind, payload, reasons={})


def plugin(python: str, script: str, sessions: str) -> str:
    """Return the plugin; it runs *script* by *python*, and writes into the folder *sessions*."""
    text = files("nous.hosts").joinpath("opencode.js").read_text()
    for name, value in (("PYTHON", python), ("HOOK", script), ("SESSIONS", sessions)):
        text = text.replace(f"@{name}@", value.replace("\\", "\\\\").replace('"', '\\"'))
    return text


def notes(text: str) -> Json:
    """Return notes as the plugin reads them."""
    return {"notes": text}


HOST = Host(
    name="opencode",
    title="OpenCode",
    source="types of @opencode-ai/plugin 1.18.33, 2026-11; it has no event for the end of a session",
    home="~/.config/opencode",
    home_variable="OPENCODE_CONFIG_DIR",
    settings="plugins/nous.js",
    project_settings=".opencode/plugins/nous.js",
    hooks={
        "session.created": EventKind.START,
        "session.idle": EventKind.TURN,
        "session.compacting": EventKind.COMPACTING,
    },
    event_of=event_of,
    plugin=plugin,
    notes=notes,
    sessions="",
    mcp_settings="opencode.json",
    project_mcp_settings="opencode.json",
    mcp_table="mcp",
    server_entry=lambda command: {"type": "local", "command": list(command), "enabled": True},
)
