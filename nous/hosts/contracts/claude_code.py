"""Define the host Claude Code."""

from nous.hosts.base import Host, stdio_server

HOST = Host(
    name="claude-code",
    title="Claude Code",
    source="types of @anthropic-ai/claude-agent-sdk 0.3.332; code.claude.com/docs/en/hooks, 2026-11",
    home="~/.claude",
    home_variable="CLAUDE_CONFIG_DIR",
    settings="settings.json",
    project_settings=".claude/settings.local.json",
    # Timeouts are in seconds; the default is short at the end.
    entry=lambda command, _: {"hooks": [{"type": "command", "command": command, "timeout": 10}]},
    sessions="projects",
    mcp_settings="../.claude.json",
    project_mcp_settings=".mcp.json",
    server_entry=lambda command: {"type": "stdio", **stdio_server(command)},
)
