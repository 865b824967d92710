"""What an agent's tool calls tell: what they change, which files they write, what they commit and test."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from nous.language import words
from nous.transcript.model import Entry

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATH_KEYS = ("file_path", "path", "notebook_path", "absolute_path", "target_file", "filename")
_IN_PATCHES = " File: "
_PATCH_KEYS = ("input", "patch", "command")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_BOOKKEEPING = re.compile(r"todo|task|plan|think|calculate|memory", re.IGNORECASE)
_SHELL_WRITES = re.compile(
    r"\bgit (?:commit|push|merge|rebase|tag|apply|revert|cherry-pick)\b"
    r"|(?:^|[;&|]\s*)(?:rm|mv|cp|mkdir|touch|tee|chmod|sed -i|patch) "
    r"|\b(?:npm|pnpm|yarn|pip3?|uv|cargo|brew|apt(?:-get)?) (?:install|add|publish)\b"
    r"|\b(?:kubectl|terraform) apply\b|\bdocker (?:build|push)\b|\bgh pr (?:create|merge)\b"
)
_TEST = re.compile(
    r"(?:python3? -m )?\b(?:pytest|unittest|tox|nox|go test|cargo (?:test|nextest)|vitest|jest|mocha|rspec|phpunit"
    r"|ctest|(?:npm|pnpm|yarn|bun|deno)(?: run)? test[\w:]*|make (?:test|check)|mise run [\w:]*test[\w:]*|just test\w*"
    r"|gradlew? test|mvn test|dotnet test|swift test)\b[^|;&\n>]{0,300}?(?=\s{0,9}(?:\d?>|[|;&\n]|$))"
)
_RUNS_GIT = r"(?:^|[;&|(\n])[ \t]*(?:\w+=\S+[ \t]+)*git\b"
"""Where a command begins, so that what is only quoted or searched for does not count."""

_COMMIT = re.compile(rf"{_RUNS_GIT}(?: +-[cC] +\S+| +--[a-z][\w-]*(?:=\S+)?)* +commit\b(?![-\w]| *\()")
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+['\"]?[ \t]*\n\s*(?P<subject>[^\n]+)")
_MESSAGE = re.compile(
    r"(?:[^'\"|;&\n]|'[^'\n]*'|\"[^\"\n]*\")*?\s(?:-[a-zA-Z]*m|--message)[ =]*"
    r"(?P<quote>['\"])(?P<subject>[^\n]*?)(?:(?P=quote)|\n|$)"
)
_PUSH = re.compile(rf"{_RUNS_GIT} push\b(?P<how>[^;&|\n]*)")
_FORCES = re.compile(r" (?:--force\b|-f\b)")
_PUSHES_NOTHING = ("--dry-run", "--delete")


def shell_command(call: Entry) -> str:
    """The command line that a call runs; empty if it runs none."""
    given = call.tool_input or {}
    command = given.get("command") or given.get("cmd")
    if isinstance(command, list):
        return " ".join(part for part in cast("list[object]", command) if isinstance(part, str))
    return command if isinstance(command, str) else ""


def tool_name(call: Entry) -> str:
    """The tool that a call names, or else what its text begins with, as in `book_flight(...)`."""
    if call.tool:
        return call.tool
    name, opened, _ = call.text.partition("(")
    return name if opened and name.isidentifier() else ""


def writes(call: Entry) -> bool:
    """Whether a call changes something outside of the conversation."""
    if command := shell_command(call):
        return _SHELL_WRITES.search(command) is not None
    return _is_named_for_writing(tool_name(call))


def hands_over(call: Entry) -> bool:
    """Whether a call leaves the matter to somebody else, as a service does that can do no more."""
    return not words().sets["handing_over"].isdisjoint(_verbs(tool_name(call)))


@lru_cache(maxsize=1024)
def _is_named_for_writing(tool: str) -> bool:
    """Remembered, because a session calls few tools, and those often."""
    return not _BOOKKEEPING.search(tool) and not _verbs(tool).isdisjoint(words().sets["writing"])


@lru_cache(maxsize=1024)
def _verbs(tool: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(tool))


def named_paths(call: Entry) -> list[str]:
    """The paths in a call's arguments, those in a patch included."""
    given = call.tool_input or {}
    for key in _PATH_KEYS:
        if (named := given.get(key)) and isinstance(named, str):
            return [named, *_patched(given)]
    return _patched(given)


def written_files(call: Entry) -> list[str]:
    """The paths that a call writes to."""
    return _patched(call.tool_input or {}) if shell_command(call) else named_paths(call) if writes(call) else []


def commit_subject(call: Entry) -> str | None:
    """The first line of the message, if the call commits."""
    return subject_of_commit(shell_command(call))


def subject_of_commit(command: str) -> str | None:
    """The first line of the message, if *command* commits."""
    commit = _COMMIT.search(command) if "commit" in command else None
    if commit is None:
        return None
    message = _MESSAGE.match(command, commit.end())
    if message is None or "--dry-run" in message[0]:
        return None
    if message["subject"].startswith("$("):
        message = _HEREDOC.search(command, commit.end())
    return message["subject"].strip() if message else None


def pushes(command: str) -> str:
    """`push` or `push --force` if *command* pushes; empty if it does not."""
    found = _PUSH.search(command)
    if found is None or any(option in found["how"] for option in _PUSHES_NOTHING):
        return ""
    return "push --force" if _FORCES.search(found["how"]) else "push"


def test_command(call: Entry) -> str | None:
    """The part of a command line that runs tests."""
    found = _TEST.search(shell_command(call))
    return " ".join(found[0].split()) if found else None


def _patched(given: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for key in _PATCH_KEYS:
        patch = given.get(key)
        if patch and isinstance(patch, str) and _IN_PATCHES in patch:
            found += (path.strip() for path in _PATCHED.findall(patch))
    return found
