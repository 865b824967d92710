"""The line that an excerpt begins with: which files the session wrote to."""

from collections.abc import Container, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from nous.actions import Action, removed_by, written_files
from nous.brief import BETWEEN
from nous.excerpt.items import PERSONAL, Items
from nous.excerpt.layout import label_length
from nous.excerpt.ledger import Ledger
from nous.excerpt.naming import Naming
from nous.excerpt.spans import full_length
from nous.prose import TICKS

FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_EDITED, _SPARED, _REMOVED = "Files edited: ", "Edits refused or failed: ", "Removed again: "
_DEEPEST = 32
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
