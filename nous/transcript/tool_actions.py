"""Classify tool calls by effect: file writes, file removals, commits, escalations."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from nous.text.language import patterns, words
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_summary import files_of_patch, paths_touched, text_under

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATCH = "*** Begin Patch"  # first line of every `apply_patch` patch

# Commands of text-editing tools, in the field that holds a command line for other tools.
_OF_EDITORS = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"})
_BOOKKEEPING = re.compile(r"todo|task|plan|think|calculate|memory", re.IGNORECASE)
_PATTERNS = patterns("nous.transcript", "patterns", "tool_actions")
_SHELL_WRITES = _PATTERNS["shell_writes"]
# Start of a git command, so that git in quoted or searched text does not count.
_RUNS_GIT = r"(?:^|[;&|(\n])[ \t]*(?:\w+=[^\s;&|(]+[ \t]+)*git\b"
_COMMIT = re.compile(rf"{_RUNS_GIT}(?: +-[cC] +[^\s;&|(]+| +--[a-z][\w-]*(?:=\S+)?)* +commit\b(?![-\w]| *\()")
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+['\"]?[ \t]*\n\s*(?P<subject>[^\n]+)")
_MESSAGE = _PATTERNS["message"]
_DRY_RUNS = ("--dry-run", "--help")
_REMOVES = _PATTERNS["removes"]
_DEEP = re.compile(r" -(?:\w*[rR]|-recursive)")
_REMOVES_NOTHING = re.compile(r" -(?:[a-z]*n[a-z]*|-cached|-dry-run)(?![\w-])")
_PARTS = re.compile(r"[;&|()\n]+")


class Action(NamedTuple):
    """A call, its effect, command line and files; `name` is the tool's or its sub-command's."""

    call: Entry
    name: str
    command: str
    paths: Sequence[str]


def action_of(call: Entry) -> Action:
    """Classify *call*; its paths are the recorded ones, or else those in its input or patch."""
    given, paths, name = call.tool_input or {}, call.paths, call.tool or _opening(call.text)
    command = text_under(given, ("command", "cmd"))
    if command in _OF_EDITORS:
        return Action(call, command, "", paths or paths_touched(name, given))
    if not paths:
        paths = paths_touched(name, given) if not command else files_of_patch(command) if _PATCH in command else ()
    return Action(call, name, command, paths)


def actions_of(transcript: Transcript) -> dict[str, Action]:
    """Return the actions of all calls in *transcript*, in order, by entry id."""
    return {entry.id: action_of(entry) for entry in transcript if entry.kind is Kind.TOOL_CALL}


def _opening(text: str) -> str:
    """Return the tool name in a call that is known only as text, such as `book_flight(...)`."""
    name, opened, _ = text.partition("(")
    return name if opened and name.isidentifier() else ""


def writes(action: Action) -> bool:
    """Return whether the action changes something outside the conversation."""
    if action.command:
        return _SHELL_WRITES.search(action.command) is not None
    return not _BOOKKEEPING.search(action.name) and not _verbs(action.name).isdisjoint(words().sets["writing"])


def hands_over(action: Action) -> bool:
    """Return whether the action escalates the case, for example to a human agent."""
    return not words().sets["handing_over"].isdisjoint(_verbs(action.name))


def written_files(action: Action) -> Sequence[str]:
    """Return the paths that the action writes to; of a command, those in its patch."""
    if action.command:
        return files_of_patch(action.command) if _PATCH in action.command else ()
    return action.paths if action.paths and writes(action) else ()


@lru_cache(maxsize=1024)  # a session calls few tools, and often
def _verbs(tool: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(tool))


def subject_of_commit(command: str) -> str | None:
    """Return the first line of the commit message; None if *command* does not commit."""
    commit = _COMMIT.search(command) if "commit" in command else None
    if commit is None or command[: commit.start()].rpartition("\n")[2].lstrip().startswith("#"):
        return None
    message = _MESSAGE.match(command, commit.end())
    if message is None or any(option in message[0][: message.start("subject") - commit.end()] for option in _DRY_RUNS):
        return None
    if message["subject"].startswith("$("):
        message = _HEREDOC.search(command, commit.end())
    return message["subject"].strip() if message else None


def removed_by(command: str) -> list[str]:
    """Return the files, and directories with a slash at the end, that *command* removes by name.

    Empty if the command does anything else: that may restore a file, or run in another directory.
    """
    removals = [_REMOVES.fullmatch(part) for part in command.split("&&")]
    names = [(found, _named(found)) for found in removals if found and found["how"] != "mv"]
    if len(names) < len(removals) or not all(named for _, named in names):
        return []
    deep = [f"{name.rstrip('/')}/" for found, named in names if _DEEP.search(found["options"]) for name in named]
    return [*(name for _, named in names for name in named), *deep]


def taken_away_by(command: str) -> list[str]:
    """Return the paths that *command* removes or moves away, among other commands too."""
    found = (_REMOVES.match(part) for part in _PARTS.split(command))
    return [path for removal in found if removal for path in _named(removal)]


def _named(removal: re.Match[str]) -> list[str]:
    """Return the paths that a removal deletes; none for `--cached` and dry runs."""
    names = [name.strip("'\"") for name in removal["named"].split()]
    if _REMOVES_NOTHING.search(removal["options"]):
        return []
    return names[:-1] if removal["how"] == "mv" else names
