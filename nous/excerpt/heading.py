"""The line that an excerpt begins with: which files the session wrote to."""

from collections.abc import Sequence
from itertools import accumulate

from nous.calls import shell_command, writes, written_files
from nous.excerpt.items import PERSONAL, Item
from nous.excerpt.ledger import Ledger
from nous.excerpt.naming import Naming
from nous.excerpt.spans import full_length
from nous.transcript.model import Entry, Kind, Transcript

FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_FILES = "Files edited: "
_BETWEEN = ", "


def edited_files(transcript: Transcript, naming: Naming) -> tuple[str, ...]:
    """The files that were written to, in order of the first time."""
    calls = (entry for entry in transcript if entry.kind is Kind.TOOL_CALL and naming.paths_in(entry))
    return tuple(dict.fromkeys(naming.relative(path) for call in calls for path in _written(call, naming)))


def _written(call: Entry, naming: Naming) -> Sequence[str]:
    if shell_command(call):
        return written_files(call)
    return naming.paths_in(call) if writes(call) else ()


def files_line(files: Sequence[str], room: int) -> str:
    """As many of *files* as *room* characters hold; empty if none has room."""
    lengths = accumulate((len(file) + len(_BETWEEN) for file in files), initial=len(_FILES) - len(_BETWEEN))
    more = len(_more(len(files)))
    count = sum(length + more * (number < len(files)) <= room for number, length in enumerate(lengths)) - 1
    if count < 1:
        return ""
    return f"{_FILES}{_BETWEEN.join(files[:count])}{_more(len(files) - count)}"


def room_for_files(items: Sequence[Item], budget: int) -> int:
    """A share of the budget, but nothing that what people said has need of."""
    personal = ((index, full_length(item.text)) for index, item in enumerate(items) if item.role in PERSONAL)
    spare = budget - Ledger(items).of(personal).spent
    share = int(budget * FILES_SHARE)
    return min(share, spare) if spare > 0 else share


def _more(count: int) -> str:
    return f" and {count} more" if count else ""
