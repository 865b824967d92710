"""What tools answered, as items: not shown before everything that was said is, and then by its most telling lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

import orjson

from nous.calls import writes
from nous.excerpt.failures import looks_failed
from nous.excerpt.items import Item, Role
from nous.prose import Span
from nous.secrets import looks_secret
from nous.transcript.model import Entry, Kind, Transcript, Trust
from nous.transcript.tools.table import BOOKKEEPING

LOOKED_AT = 700
"""Characters of an output that are considered; what a tool has to say, it says at the beginning."""

LONGEST_LINE = 160
_SHORTEST_LINE = 12
_OPENS_JSON = frozenset("{[")
_LONGEST_JSON = 20_000
_MOST_VALUES = 100
_NUMBERING = re.compile(r"^\s*\d+(?:→|\t|[:|] ?)", re.MULTILINE)


def with_outputs(items: Sequence[Item], transcript: Transcript) -> tuple[Item, ...]:
    """*items* and what the tools of *transcript* answered, in order."""
    return tuple(sorted((*items, *outputs_of(transcript)), key=lambda item: item.at))


def outputs_of(transcript: Transcript) -> list[Item]:
    """What tools answered in *transcript* to questions.

    Failures are items anyway; what was written to a file or changed elsewhere is echoed by tools that write, and what
    comes from the web anybody may have written.

    A line that stood in an output before is left out, and one that looks as if it held a secret; so are the numbers
    that tools put before lines.
    """
    seen: set[str] = set()
    items = (
        _item(at, entry, seen)
        for at, entry in enumerate(transcript)
        if entry.kind is Kind.TOOL_RESULT and entry.trust is Trust.TOOL and not (looks_failed(entry) or _echoes(entry))
    )
    return [item for item in items if item.parts]


def _echoes(result: Entry) -> bool:
    return result.tool in BOOKKEEPING or writes(result)


def _item(at: int, entry: Entry, seen: set[str]) -> Item:
    lines: list[str] = []
    parts: list[Span] = []
    length = 0
    for line in _lines(_readable(entry.text), seen):
        lines.append(line)
        parts.append((length, length + len(line)))
        length += len(line) + 1
    return Item(role=Role.OUTPUT, text="\n".join(lines), entries=(entry.id,), at=at, parts=tuple(parts))


def _readable(text: str) -> str:
    """The beginning of *text*; of an object or array as what it says, `name: value, name: value`."""
    if text[:1] in _OPENS_JSON and len(text) <= _LONGEST_JSON:
        try:
            return ", ".join(islice(_said_by(orjson.loads(text)), _MOST_VALUES))[:LOOKED_AT]
        except orjson.JSONDecodeError:
            pass  # a text that only looks like it
    return text[:LOOKED_AT]


def _said_by(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner_name, inner in cast("Mapping[str, object]", value).items():
            yield from _said_by(inner, inner_name)
    elif isinstance(value, list):
        for inner in cast("Sequence[object]", value):
            yield from _said_by(inner, name)
    elif value is not None and value != "":
        said = " ".join(str(value).split())
        yield f"{name}: {said}" if name else said


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
