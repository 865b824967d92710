"""Which parts of a tool's input say what it does, for the tools of the agents that are known."""

from collections.abc import Mapping
from typing import NamedTuple

Keys = tuple[str, ...]
"""Names under which agents, and versions of them, keep the same thing; the first that is there counts."""


class Shape(NamedTuple):
    """What is shown of a tool's input: the file it works on, whole; then values by label, cut and quoted.

    `patch` names the text of a patch, whose files are shown. Without the value labelled `needs` only the name is.
    """

    file: Keys = ()
    patch: Keys = ()
    values: Mapping[str, Keys] = {}
    needs: str | None = None


BOOKKEEPING = frozenset(
    {
        *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "exit_plan_mode", "TodoWrite"),
        *("TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TaskOutput", "TaskStop"),
        *("update_plan", "write_todos", "todowrite", "todo_write", "ask_human", "report_intent"),
    }
)
"""Tools that keep the agent's books, or that ask the user, whose answer is told as a decision."""

FIRST_LINE_ONLY = frozenset({"cmd", "prompt"})

_PATHS: Keys = ("file_path", "path", "absolute_path", "filePath", "target_file", "filename", "file")
_FILE = Shape(file=_PATHS)
_SHELL = Shape(values={"desc": ("description",), "cmd": ("command", "cmd", "script")})
_SEARCH = Shape(values={"pattern": ("pattern", "query", "regex"), "path": ("path", "dir_path")}, needs="pattern")
_FOLDER = Shape(values={"path": ("path", "dir_path", "directory", "target_directory")})
_FETCH = Shape(values={"url": ("url",), "prompt": ("prompt",)})
_QUERY = Shape(values={"query": ("query",)})
_PATCH = Shape(patch=("patch", "input", "patchText"))
_DELEGATE = Shape(values={"desc": ("description",), "prompt": ("prompt", "task", "message")})

_CLAUDE_CODE: Mapping[str, Shape] = {
    **dict.fromkeys(("Read", "Edit", "Write", "MultiEdit"), Shape(file=("file_path",))),
    "NotebookEdit": Shape(file=("notebook_path",), values={"cell_id": ("cell_id",), "edit_mode": ("edit_mode",)}),
    **dict.fromkeys(("Grep", "Glob"), _SEARCH._replace(values={"pattern": ("pattern",), "path": ("path",)})),
    "Bash": _SHELL,
    **dict.fromkeys(("Task", "Agent"), _DELEGATE._replace(values={"desc": ("description",), "prompt": ("prompt",)})),
    "Skill": Shape(values={"skill": ("skill",), "args": ("args",)}),
    "WebFetch": Shape(values={"url": ("url",)}),
    "WebSearch": _QUERY,
    "LS": _FOLDER,
}
_CODEX: Mapping[str, Shape] = {
    **dict.fromkeys(("shell", "exec_command", "exec", "local_shell", "shell_command", "unified_exec"), _SHELL),
    "apply_patch": _PATCH,
    "view_image": _FILE,
    "web_search": _QUERY,
    "spawn_agent": _DELEGATE,
}
_GEMINI: Mapping[str, Shape] = {
    **dict.fromkeys(("read_file", "write_file", "replace"), _FILE),
    **dict.fromkeys(("search_file_content", "grep_search", "glob"), _SEARCH),
    "list_directory": _FOLDER,
    "run_shell_command": _SHELL,
    "web_fetch": _FETCH,
    "google_web_search": _QUERY,
    "save_memory": Shape(values={"fact": ("fact",)}),
}
_QBIT: Mapping[str, Shape] = {
    **dict.fromkeys(("edit_file", "create_file", "delete_file"), _FILE),
    **dict.fromkeys(("grep_file", "find_files", "ast_grep"), _SEARCH),
    "list_files": Shape(values={"path": ("path",), "pattern": ("pattern",)}),
    **dict.fromkeys(("run_pty_cmd", "run_command"), _SHELL),
}
_OTHERS: Mapping[str, Shape] = {
    **dict.fromkeys(("bash", "Shell", "terminal"), _SHELL),
    **dict.fromkeys(("read", "edit", "write", "view", "create", "str_replace", "str_replace_editor"), _FILE),
    **dict.fromkeys(("grep", "find", "codebase_search"), _SEARCH),
    "ls": _FOLDER,
    "task": _DELEGATE,
    "webfetch": _FETCH,
}

TABLE: Mapping[str, Shape] = {**_OTHERS, **_QBIT, **_GEMINI, **_CODEX, **_CLAUDE_CODE}
"""Each tool by its name. Names are told apart by case; agents that share one mean the same by it."""
