"""The line that an excerpt begins with: which files the session wrote to."""

from collections.abc import Container, Sequence
from itertools import accumulate
from typing import NamedTuple

from nous.calls import shell_command, writes, written_files
from nous.excerpt.items import PERSONAL, Item
from nous.excerpt.ledger import Ledger
from nous.excerpt.naming import Naming
from nous.excerpt.spans import full_length
from nous.transcript.model import Entry, Kind, Transcript

FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_EDITED, _SPARED = "Files edited: ", "Edits refused or failed: "
_BETWEEN, _BETWEEN_LISTS = ", ", "; "


class Files(NamedTuple):
    """The files that calls wrote to, and those that they only tried to write to, in order of the first time."""

    edited: tuple[str, ...]
    spared: tuple[str, ...]


def files_written(transcript: Transcript, naming: Naming, fates: Container[str]) -> Files:
    """The files of *transcript*; calls in *fates* came to nothing."""
    edited: dict[str, None] = {}
    spared: dict[str, None] = {}
    for entry in transcript:
        if entry.kind is Kind.TOOL_CALL and naming.paths_in(entry):
            paths = map(naming.relative, _written(entry, naming))
            (spared if entry.id in fates else edited).update(dict.fromkeys(paths))
    return Files(tuple(edited), tuple(path for path in spared if path not in edited))


def _written(call: Entry, naming: Naming) -> Sequence[str]:
    if shell_command(call):
        return written_files(call)
    return naming.paths_in(call) if writes(call) else ()


def files_line(files: Files, room: int) -> str:
    """As many of *files* as *room* characters hold; empty if none has room."""
    edited = _listed(_EDITED, files.edited, room)
    left = room - len(edited) - len(_BETWEEN_LISTS)
    spared = _listed(_SPARED, files.spared, left if edited else room)
    return _BETWEEN_LISTS.join(part for part in (edited, spared) if part)


def _listed(lead: str, files: Sequence[str], room: int) -> str:
    lengths = accumulate((len(file) + len(_BETWEEN) for file in files), initial=len(lead) - len(_BETWEEN))
    more = len(_more(len(files)))
    count = sum(length + more * (number < len(files)) <= room for number, length in enumerate(lengths)) - 1
    return f"{lead}{_BETWEEN.join(files[:count])}{_more(len(files) - count)}" if count > 0 else ""


def room_for_files(items: Sequence[Item], budget: int) -> int:
    """A share of the budget, but nothing that what people said has need of."""
    personal = ((index, full_length(item.text)) for index, item in enumerate(items) if item.role in PERSONAL)
    spare = budget - Ledger(items).of(personal).spent
    share = int(budget * FILES_SHARE)
    return min(share, spare) if spare > 0 else share


def _more(count: int) -> str:
    return f" and {count} more" if count else ""
