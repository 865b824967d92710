"""A tool call in one line."""

from collections.abc import Mapping
from typing import Any

from nous.transcript.graphemes import first_graphemes

LONGEST_VALUE = 80
"""Grapheme clusters of a value that are shown. Paths of files are shown whole."""

_SKIPPED = frozenset(
    {
        "AskUserQuestion",
        "EnterPlanMode",
        "ExitPlanMode",
        "TaskCreate",
        "TaskGet",
        "TaskUpdate",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TodoWrite",
    }
)
_PATH = {"Read": "file_path", "Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "NotebookEdit": {"cell_id": "cell_id", "edit_mode": "edit_mode"},
    "Grep": {"pattern": "pattern", "path": "path"},
    "Glob": {"pattern": "pattern", "path": "path"},
    "Bash": {"desc": "description", "cmd": "command"},
    "Task": {"desc": "description", "prompt": "prompt"},
    "Skill": {"skill": "skill", "args": "args"},
    "WebFetch": {"url": "url"},
    "WebSearch": {"query": "query"},
}
_FIRST_LINE_ONLY = frozenset({"cmd", "prompt"})
_NEEDS = {"Grep": "pattern", "Glob": "pattern"}


def extract_tool_summary(name: str | None, tool_input: Mapping[str, Any] | None = None) -> str:
    """`Name(what matters of its input)`; the bare name for a tool that is not known, and "" for one of bookkeeping."""
    if not name or name in _SKIPPED:
        return ""
    given = tool_input or {}
    if (needed := _NEEDS.get(name)) and not _text(given, needed):
        return name
    path = _text(given, _PATH[name]) if name in _PATH else ""
    shown = [path] if path else []
    shown += (
        f'{label}="{_shortened(value, label)}"'
        for label, key in _VALUES.get(name, {}).items()
        if (value := _text(given, key))
    )
    return f"{name}({', '.join(shown)})" if shown else name


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""


def _shortened(value: str, label: str) -> str:
    if label in _FIRST_LINE_ONLY:
        value = value.partition("\n")[0].rstrip("\r")
    return first_graphemes(value, LONGEST_VALUE).replace('"', '\\"')
