"""Define the host Gemini CLI."""

from nous.hosts.base import EventKind, Host

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
    # Timeouts are in milliseconds.
    entry=lambda command, _: {"hooks": [{"type": "command", "name": "nous", "command": command, "timeout": 10_000}]},
    sessions="tmp",
    mcp_settings="settings.json",
    project_mcp_settings=".gemini/settings.json",
)
