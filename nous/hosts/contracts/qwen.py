"""Define the host Qwen Code."""

from nous.hosts.base import Host

HOST = Host(
    name="qwen",
    title="Qwen Code",
    source="bundle of Qwen Code 0.24.4, 2026-11",
    home="~/.qwen",
    home_variable="QWEN_HOME",
    settings="settings.json",
    project_settings=".qwen/settings.json",
    # All releases read a timeout over 1,000 as milliseconds.
    entry=lambda command, _: {"hooks": [{"type": "command", "name": "nous", "command": command, "timeout": 10_000}]},
    sessions="projects",
    mcp_settings="settings.json",
    project_mcp_settings=".qwen/settings.json",
)
