"""Define the host OpenCode 1.x, by a plugin in JavaScript."""

from importlib.resources import files

from nous.hosts.base import EventKind, Host


def plugin(python: str, script: str, sessions: str) -> str:
    """Return the plugin; it runs *script* by *python*, and writes into the folder *sessions*."""
    text = files("nous.hosts").joinpath("opencode.js").read_text()
    for name, value in (("PYTHON", python), ("HOOK", script), ("SESSIONS", sessions)):
        text = text.replace(f"@{name}@", value.replace("\\", "\\\\").replace('"', '\\"'))
    return text


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
    plugin=plugin,
    notes=lambda text: {"notes": text},
    sessions="",
    mcp_settings="opencode.json",
    project_mcp_settings="opencode.json",
    mcp_table="mcp",
    server_entry=lambda command: {"type": "local", "command": list(command), "enabled": True},
)
