"""Shorten file paths in an excerpt's tool calls, and list the files edited in the session."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import reduce
from itertools import accumulate, islice
from pathlib import PurePosixPath

from nous.excerpt.floor import lengths_due
from nous.excerpt.items import PERSONAL, Items
from nous.excerpt.layout import LengthAccount
from nous.text.sentences import TICKS
from nous.transcript.model import Kind, Transcript
from nous.transcript.tool_actions import Action, removed_by, written_files

_LOOKED_AT = 2000  # characters of a call or result to search for a project path
_MOST_LOOKED_AT = 500
_DEEPEST = 32
_IN_A_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+/~%*?$\\")
_OPENS_A_PATH = frozenset(" \t\n\r'\"`([{<>=,;|&!")
_SHALLOWEST = 2
MOST = 0.75  # share of the paths that must be inside a directory to strip it. The other paths are shown in full
_TELLING = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})
_BEGINS_PATH = r"(?<![\w.@+/~%*?$\\-])(?:(?:\.|[ab])/)?"  # perhaps with what commands and diffs put before a path


class Naming:
    """Short file names: relative at first use, then the last part, if that is unambiguous."""

    def __init__(self, directory: str, paths: Iterable[str]) -> None:
        self._directory = directory
        self._known: set[str] = set()
        last_parts: dict[str, str] = {}
        self._ambiguous = {last for path in paths if last_parts.setdefault(last := _last_part(path), path) != path}

    def brief(self, text: str, paths: Iterable[str]) -> str:
        for path in paths:
            name = self._name(path)
            if name != path and path in text:
                text = _replaced(text, path, name, is_whole=True)
        directory = self._directory
        return _replaced(text, directory, "", is_whole=False) if directory and directory in text else text

    def relative(self, path: str) -> str:
        return path.removeprefix(self._directory) or path

    def _name(self, path: str) -> str:
        last = _last_part(path)
        if path not in self._known or last in self._ambiguous or not last:
            self._known.add(path)
            return self.relative(path)
        return last


def naming(transcript: Transcript, actions: Iterable[Action]) -> Naming:
    paths = {path for action in actions for path in action.paths}
    return Naming(directory_of(transcript, paths), paths)


def directory_of(transcript: Transcript, paths: Iterable[str]) -> str:
    """Return the working directory of the session, with a slash at its end; "" if unknown.

    If the transcript does not state it, it is the directory that most of *paths* share, or a parent from which the
    session names them: if they are in `/home/a/shop/src/cart/`, `src/cart/list.py` in a call gives `/home/a/shop/`.
    """
    absolute = [path for path in paths if path.startswith("/")]
    cwd = f"{(transcript.header.cwd or '').rstrip('/')}/"
    if cwd.count("/") >= _SHALLOWEST and any(path.startswith(cwd) for path in absolute):
        return cwd
    common = _common_to_most(absolute)
    return _from_where_named(transcript, common) if common.count("/") >= _SHALLOWEST else ""


def _common_to_most(paths: Sequence[str]) -> str:
    inside: Counter[str] = Counter()
    for path in paths:
        inside.update(accumulate(f"{part}/" for part in path.split("/")[:-1][:_DEEPEST]))
    return max((folder for folder, times in inside.items() if times >= MOST * len(paths)), key=len, default="/")


def _from_where_named(transcript: Transcript, common: str) -> str:
    *above, last = [f"{part}/" for part in common.strip("/").split("/")[-_DEEPEST:]]
    optional = reduce(lambda before, part: f"(?:{before}{re.escape(part)})?", above, "")
    relative = re.compile(rf"{_BEGINS_PATH}({optional}{re.escape(last)})", re.ASCII)
    for entry in islice(transcript, _MOST_LOOKED_AT):
        if entry.kind in _TELLING and last in entry.text and (found := relative.search(entry.text, 0, _LOOKED_AT)):
            return common.removesuffix(found[1])
    return common


def _replaced(text: str, path: str, name: str, *, is_whole: bool) -> str:
    """Replace *path* in *text* where it stands on its own, or begins a longer path."""
    parts: list[str] = []
    position, at = 0, text.find(path)
    while at >= 0:
        end = at + len(path)
        begins = at == 0 or text[at - 1] in _OPENS_A_PATH
        after = text[end : end + 1]
        goes_on = after in _IN_A_PATH or not after.isascii()
        if begins and goes_on is not is_whole and not (goes_on and after == "/"):
            parts += (text[position:at], name)
            position = end
        at = text.find(path, end)
    return "".join([*parts, text[position:]])


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


FILES_SHARE = 0.10  # maximum share of the budget for the line of edited files
_BETWEEN_FILES, _BETWEEN_LISTS = ", ", "; "


def files_written(
    actions: Iterable[Action], naming: Naming, unsuccessful: Container[str]
) -> Mapping[str, Sequence[str]]:
    """Return the files that *actions* edit, and those whose edits are not kept, by title.

    *unsuccessful* are ids of failed calls.
    """
    written: dict[str, int] = {}
    removed: dict[str, int] = {}
    for at, action in enumerate(actions, 1):
        if not action.paths and "rm " not in action.command:
            continue
        has_failed = action.call.id in unsuccessful
        for path in map(naming.relative, written_files(action)):
            written[path] = written.get(path, 0) if has_failed else at
        if not has_failed:
            removed.update((naming.relative(name), at) for name in removed_by(action.command))
    files: dict[str, list[str]] = {"Files edited": [], "Edits not kept": []}
    kept, undone = files.values()
    for path, at in written.items():
        above = (f"{parent}/" for parent in PurePosixPath(path).parents) if removed else ()
        is_undone = not at or any(removed.get(name, 0) > at for name in (path, *above))
        (undone if is_undone else kept).append(_in_one_line(path))
    return files


def _in_one_line(path: str) -> str:
    return " ".join(filter(None, path.splitlines())).replace(TICKS, "'" * len(TICKS))


def files_line(files: Mapping[str, Sequence[str]], room: int) -> str:
    """List as many of *files* as fit into *room* characters; empty if none fits."""
    line = ""
    for title, listed in files.items():
        lead = f"{_BETWEEN_LISTS if line else ''}{title}: "
        lengths = accumulate((len(file) + len(_BETWEEN_FILES) for file in listed), initial=-len(_BETWEEN_FILES))
        more, spare = len(_more(len(listed))), room - len(line) - len(lead)
        count = sum(length + more * (number < len(listed)) <= spare for number, length in enumerate(lengths)) - 1
        if count > 0:
            line += f"{lead}{_BETWEEN_FILES.join(listed[:count])}{_more(len(listed) - count)}"
    return line


def room_for_files(items: Items, budget: int) -> int:
    """Return the room for the line of files: none that the words of people need."""
    share = int(budget * FILES_SHARE)
    personal = [index for index, item in enumerate(items) if item.role in PERSONAL]
    spare = budget - LengthAccount(items, lengths_due(items, personal, budget).items()).spent
    return min(share, spare) if spare > 0 else share


def _more(count: int) -> str:
    return f" and {count} more" if count else ""
