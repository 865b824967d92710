"""The line that an excerpt begins with: which files the session wrote to."""

from collections.abc import Container, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from nous.actions import Action, written_files
from nous.excerpt.items import PERSONAL, Items
from nous.excerpt.layout import BETWEEN, label_length
from nous.excerpt.ledger import Ledger
from nous.excerpt.naming import Naming
from nous.excerpt.spans import full_length

FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_EDITED, _SPARED = "Files edited: ", "Edits refused or failed: "
_BETWEEN_FILES, _BETWEEN_LISTS = ", ", "; "


class Files(NamedTuple):
    """The files that calls wrote to, and those that they only tried to write to, in order of the first time."""

    edited: tuple[str, ...]
    spared: tuple[str, ...]


def files_written(actions: Iterable[Action], naming: Naming, fates: Container[str]) -> Files:
    """The files that *actions* write to; calls in *fates* came to nothing."""
    edited: dict[str, None] = {}
    spared: dict[str, None] = {}
    for action in actions:
        if written := written_files(action):
            paths = map(naming.relative, written)
            (spared if action.call.id in fates else edited).update(dict.fromkeys(paths))
    return Files(tuple(edited), tuple(path for path in spared if path not in edited))


def files_line(files: Files, room: int) -> str:
    """As many of *files* as *room* characters hold; empty if none has room."""
    edited = _listed(_EDITED, files.edited, room)
    left = room - len(edited) - len(_BETWEEN_LISTS)
    spared = _listed(_SPARED, files.spared, left if edited else room)
    return _BETWEEN_LISTS.join(part for part in (edited, spared) if part)


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
