"""What tools answered, as items: not shown before everything that was said is, and then by its most telling lines."""

import re
from collections.abc import Iterator, Sequence

from nous.excerpt.failures import looks_failed
from nous.excerpt.items import Item, Role
from nous.prose import Span
from nous.secrets import looks_secret
from nous.transcript.model import Entry, Kind, Transcript, Trust

LOOKED_AT = 700
"""Characters of an output that are considered; what a tool has to say, it says at the beginning."""

LONGEST_LINE = 160
_SHORTEST_LINE = 12
_NUMBERING = re.compile(r"^\s*\d+(?:→|\t|[:|] ?)", re.MULTILINE)


def with_outputs(items: Sequence[Item], transcript: Transcript) -> tuple[Item, ...]:
    """*items* and what the tools of *transcript* answered, in order."""
    return tuple(sorted((*items, *outputs_of(transcript)), key=lambda item: item.at))


def outputs_of(transcript: Transcript) -> list[Item]:
    """What tools answered in *transcript*, but for failures, which are items anyway, and what anybody may have written.

    A line that stood in an output before is left out, and one that looks as if it held a secret; so are the numbers
    that tools put before lines.
    """
    seen: set[str] = set()
    items = (
        _item(at, entry, seen)
        for at, entry in enumerate(transcript)
        if entry.kind is Kind.TOOL_RESULT and entry.trust is Trust.TOOL and not looks_failed(entry)
    )
    return [item for item in items if item.parts]


def _item(at: int, entry: Entry, seen: set[str]) -> Item:
    lines: list[str] = []
    parts: list[Span] = []
    length = 0
    for line in _lines(entry.text[:LOOKED_AT], seen):
        lines.append(line)
        parts.append((length, length + len(line)))
        length += len(line) + 1
    return Item(role=Role.OUTPUT, text="\n".join(lines), entries=(entry.id,), at=at, parts=tuple(parts))


def _lines(text: str, seen: set[str]) -> Iterator[str]:
    for whole in _NUMBERING.sub("", text).splitlines():
        for line in _shortened(whole.strip()):
            if len(line) >= _SHORTEST_LINE and line not in seen and not looks_secret(line):
                seen.add(line)
                yield line


def _shortened(line: str) -> Iterator[str]:
    """*line* in parts of at most `LONGEST_LINE` characters, which end between words where there are any."""
    while len(line) > LONGEST_LINE:
        end = line.rfind(" ", LONGEST_LINE // 2, LONGEST_LINE)
        end = end if end > 0 else LONGEST_LINE
        yield line[:end]
        line = line[end:].lstrip()
    yield line
