"""What the files of a session are called: by their path in the project, and by their bare name once that is known."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from nous.domain.summary_input import BETWEEN
from nous.excerpt.items import PERSONAL, Items
from nous.excerpt.layout import Ledger, label_length
from nous.excerpt.spans import full_length
from nous.text.sentences import TICKS
from nous.transcript.model import Kind, Transcript
from nous.transcript.tool_actions import Action, removed_by, written_files

_LOOKED_AT = 2000
"""Characters of a call or a result in which a path of the project is looked for."""

_MOST_LOOKED_AT = 500
"""Entries in which a path of the project is looked for."""

_MOST_MENTIONS = 50
"""Places of one text in which a path of the project is looked for."""

_DEEPEST = 32
"""Directories above each other, of which more are left out or looked for."""

_IN_A_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+/~%*?$\\")
_OPENS_A_PATH = frozenset(" \t\n\r'\"`([{<>=,;|&!")
_SHALLOWEST = 2
MOST = 0.75
"""How many of the paths have to be in a directory that is left out. The others are told in full."""

_TELLING = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})
_PUT_BEFORE = ("./", "a/", "b/")


class Naming:
    """Names the files of one session: relative to *directory*, and by the last part of the path after the first time.

    *paths* are all that its calls name. Two files of the same last part are always told apart.
    """

    def __init__(self, directory: str, paths: Iterable[str]) -> None:
        self._directory = directory
        self._known: set[str] = set()
        last_parts: dict[str, str] = {}
        self._ambiguous = {last for path in paths if last_parts.setdefault(last := _last_part(path), path) != path}

    def brief(self, text: str, paths: Iterable[str]) -> str:
        """*text*, which names *paths*, with shorter names for them."""
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
    """The names of the files that *actions*, which are those of *transcript*, name."""
    paths = {path for action in actions for path in action.paths}
    return Naming(directory_of(transcript, paths), paths)


def directory_of(transcript: Transcript, paths: Iterable[str]) -> str:
    """Where the session worked, with a slash at its end; empty if its files have no directory in common.

    Where the transcript does not say, it is the directory that most of *paths* have in common, or the one above it from
    which the session itself names them: where `/home/a/shop/src/cart/` has them all, `src/cart/list.py` in a call tells
    `/home/a/shop/`.
    """
    absolute = [path for path in paths if path.startswith("/")]
    cwd = f"{(transcript.header.cwd or '').rstrip('/')}/"
    if cwd.count("/") >= _SHALLOWEST and any(path.startswith(cwd) for path in absolute):
        return cwd
    common = _common_to_most(absolute)
    return _from_where_named(transcript, common) if common.count("/") >= _SHALLOWEST else ""


def _common_to_most(paths: Sequence[str]) -> str:
    """The deepest directory that has most of *paths* in it, with a slash at its end."""
    directory, depth = "/", 1
    enough = MOST * len(paths)
    folders = [(path.split("/")[:-1], times) for path, times in Counter(map(_folder, paths)).items()]
    while depth < _DEEPEST and (folders := [folder for folder in folders if len(folder[0]) > depth]):
        inside: Counter[str] = Counter()
        for parts, times in folders:
            inside[parts[depth]] += times
        name, times = inside.most_common(1)[0]
        if times < enough:
            break
        folders = [folder for folder in folders if folder[0][depth] == name]
        directory, depth = f"{directory}{name}/", depth + 1
    return directory


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _from_where_named(transcript: Transcript, common: str) -> str:
    parts = common.strip("/").split("/")[-_DEEPEST:]
    ends = [f"{'/'.join(parts[start:])}/" for start in range(len(parts) - 1, -1, -1)]
    for entry in islice(transcript, _MOST_LOOKED_AT):
        if entry.kind in _TELLING and (relative := _relative_path(entry.text, ends, common)):
            return common.removesuffix(relative)
    return common


def _relative_path(text: str, ends: Sequence[str], common: str) -> str:
    """The one of *ends*, those of *common* with the shortest first, that *text* names on its own; empty if none."""
    at = text.find(ends[0], 0, _LOOKED_AT)
    for _ in range(_MOST_MENTIONS):
        if at < 0:
            break
        end = at + len(ends[0])
        if not text.endswith(common, 0, end):
            for relative in ends:
                if not text.endswith(relative, 0, end):
                    break
                if _begins_path(text, end - len(relative)):
                    return relative
        at = text.find(ends[0], end, _LOOKED_AT)
    return ""


def _begins_path(text: str, at: int) -> bool:
    """Whether nothing before *at* belongs to the same path but what commands and diffs put before it."""
    if at > 1 and text.startswith(_PUT_BEFORE, at - 2):
        at -= 2
    return not at or text[at - 1] not in _IN_A_PATH


def _replaced(text: str, path: str, name: str, *, is_whole: bool) -> str:
    """*text* with *name* for *path* wherever that stands on its own, or, unless it *is_whole*, begins a longer path."""
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


FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_EDITED, _SPARED, _REMOVED = "Files edited: ", "Edits refused or failed: ", "Removed again: "
_BETWEEN_FILES, _BETWEEN_LISTS = ", ", "; "


class Files(NamedTuple):
    """The files that calls wrote to, in order of the first time; those that they only tried to write to; those that
    they wrote to and removed later.
    """

    edited: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def files_written(actions: Iterable[Action], naming: Naming, fates: Container[str]) -> Files:
    """The files that *actions* write to; calls in *fates* came to nothing."""
    written: dict[str, int] = {}
    removed: dict[str, int] = {}
    spared: dict[str, None] = {}
    for at, action in enumerate(actions):
        if not action.paths and "rm " not in action.command:
            continue
        paths = map(naming.relative, written_files(action))
        if action.call.id in fates:
            spared.update(dict.fromkeys(paths))
            continue
        written.update(dict.fromkeys(paths, at))
        removed.update((naming.relative(name), at) for name in removed_by(action.command))
    gone = (
        {path for path, at in written.items() if any(removed.get(name, -1) > at for name in _above(path))}
        if removed
        else set[str]()
    )
    return Files(
        edited=tuple(_in_one_line(path) for path in written if path not in gone),
        spared=tuple(_in_one_line(path) for path in spared if path not in written),
        removed=tuple(_in_one_line(path) for path in written if path in gone),
    )


def _in_one_line(path: str) -> str:
    """*path*, whatever a program may have put into it, as a name that begins neither a line nor a block of code."""
    return " ".join(filter(None, path.splitlines())).replace(TICKS, "'" * len(TICKS))


def _above(path: str) -> set[str]:
    """*path* and the directories that it is in, each with its slash, as far as anybody would look."""
    names = {path}
    while (path := path.rstrip("/").rpartition("/")[0]) and len(names) < _DEEPEST:
        names.add(f"{path}/")
    return names


def files_line(files: Files, room: int) -> str:
    """As many of *files* as *room* characters hold; empty if none has room."""
    line = ""
    for lead, listed in ((_EDITED, files.edited), (_SPARED, files.spared), (_REMOVED, files.removed)):
        between = _BETWEEN_LISTS if line else ""
        if more := _listed(lead, listed, room - len(line) - len(between)):
            line += between + more
    return line


def _listed(lead: str, files: Sequence[str], room: int) -> str:
    lengths = accumulate((len(file) + len(_BETWEEN_FILES) for file in files), initial=len(lead) - len(_BETWEEN_FILES))
    more = len(_more(len(files)))
    count = sum(length + more * (number < len(files)) <= room for number, length in enumerate(lengths)) - 1
    return f"{lead}{_BETWEEN_FILES.join(files[:count])}{_more(len(files) - count)}" if count > 0 else ""


def room_for_files(items: Items, budget: int) -> int:
    """A share of the budget, but nothing that what people said has need of."""
    share = int(budget * FILES_SHARE)
    personal: list[tuple[int, int]] = []
    least = -len(BETWEEN)
    for index, item in enumerate(items):
        if item.role in PERSONAL:
            personal.append((index, full_length(item.text)))
            least += label_length(item) + personal[-1][1] + len(BETWEEN)
            if least >= budget:
                return share
    spare = budget - Ledger(items, personal).spent
    return min(share, spare) if spare > 0 else share


def _more(count: int) -> str:
    return f" and {count} more" if count else ""
