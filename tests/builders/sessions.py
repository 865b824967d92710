"""Entries of coding and service sessions, for tests of what is made of them."""

from itertools import count
from typing import Any

Piece = tuple[Any, ...]
_numbers = count()


def asks(text: str) -> list[Piece]:
    return [("user", text)]


def says(text: str) -> list[Piece]:
    return [("assistant", text)]


def runs(command: str, result: str = "ok", *, fails: bool = False) -> list[Piece]:
    """A shell command and its result."""
    return calls("Bash", {"command": command}, result, fails=fails)


def edits(path: str, *, fails: bool = False) -> list[Piece]:
    """A change of the file at *path*."""
    return calls("Edit", {"file_path": path}, "edited", fails=fails)


def calls(tool: str, given: dict[str, Any], result: str = "ok", *, fails: bool = False) -> list[Piece]:
    call = f"call-{next(_numbers)}"
    return [
        ("tool_call", tool, {"tool": tool, "tool_input": given, "call_id": call}),
        ("tool_result", result, {"call_id": call, "is_error": fails}),
    ]


def rejects(what: str, reason: str = "") -> list[Piece]:
    """The user's rejection of a call, with its reason."""
    return [("decision", f"Rejected {what}: {reason}" if reason else f"Rejected {what}")]


def commits(subject: str) -> list[Piece]:
    return runs(f'git commit -m "{subject}"', f"[main 1a2b3c4] {subject}")
