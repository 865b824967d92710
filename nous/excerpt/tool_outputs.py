"""Extract error lines from failed tool results; add shortened tool outputs to excerpt items."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import cast

import orjson

from nous.excerpt.items import Item, Items, Role, unlike_ours
from nous.excerpt.layout import back_to_a_blank
from nous.text.sentences import Span
from nous.transcript.model import Entry, Kind, Transcript, Trust
from nous.transcript.tool_summary import BOOKKEEPING

LONGEST = 320  # maximum characters to show of an error; anything longer is a log
_LINES = 3
_FAILURE_HEAD = 200  # characters at the start of a result that are searched for an error
_LOOKED_AT = 4000
_NEW_LINE = "\n"
_TELLING = re.compile(
    r"\b(?:error|errors|fail|failed|failure|fatal|exception|denied|refused|cannot|can't|could not|unable|undefined"
    r"|not found|no such|does not exist|invalid|missing|unexpected|panic|traceback|timed out|conflict)\b"
    r"|\w(?:error|exception)\b"
)
"""Is searched for in lower-case text, which is faster than ignoring case."""

_TAG = re.compile(r"</?(?:tool_use_error|error|stderr|stdout)>")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BEGINS_AS_ERROR = re.compile(r"\s*(?:<tool_use_error>|(?:\w*Error|error|ERROR)\b\s*:)")


def looks_failed(result: Entry) -> bool:
    """Return whether a tool result reports a failure; web results are not trusted to."""
    if result.is_error:
        return True
    head = result.text[:_FAILURE_HEAD]
    says_error = ("rror" in head or "ERROR" in head) and _BEGINS_AS_ERROR.match(head) is not None
    return says_error and result.trust is not Trust.WEB


def failure(text: str) -> str:
    """Return the telling lines of a failure, or else its first one."""
    plain = _plain(text)
    said = [line for whole in plain.splitlines() if (line := whole.strip())]
    telling = [line for line in said if _TELLING.search(line.lower())]
    unique = list(dict.fromkeys(telling)) or said[:1]
    lines = unique if len(unique) <= _LINES else [*unique[: _LINES - 1], unique[-1]]  # a build ends with its verdict
    share = LONGEST // max(1, len(lines)) - 1
    return "\n".join(line if len(line) <= share else line[: share - 3] + "..." for line in lines)


def _plain(text: str) -> str:
    if len(text) > 2 * _LOOKED_AT:
        head, tail = text[:_LOOKED_AT], text[-_LOOKED_AT:]
        text = f"{head.rpartition(_NEW_LINE)[0] or head}\n{tail.partition(_NEW_LINE)[2] or tail}"
    return _TAG.sub("", _ANSI.sub("", text.replace("\r", "\n")))


LEAST, MOST = 150, 900  # minimum and maximum characters to consider per output, depending on the room
OUTPUTS_AT_MOST = MOST + 100
_CONSIDERED = 6  # ratio of outputs to consider to the room for them
_HEAD = 2 / 3  # share of a cut output that is its beginning: most tools report first, tests report last
LONGEST_LINE = 160
_ODD_TOOL = re.compile(r"[^\w .:/-]|.{41}")
_OPENS_JSON = frozenset("{[")
_LONGEST_JSON = 20_000
_MOST_VALUES = 100
_DEEPEST = 12
_NUMBERING = re.compile(r"^[ ]*\d+(?:→|\t)", re.MULTILINE)
_ENVELOPE = re.compile(
    r"(?:Chunk ID|Wall time|Original token count|Process Group PGID): [^\n]*$|(?:Output|Stdout|Stderr):$"
    r"|(?:Process exited with code|Exit Code:) 0$|[A-Z][A-Za-z ]{2,20}: \(none\)$"
)
"""Lines that agents' shells print around the output of a command."""


def with_outputs(items: Items, transcript: Transcript, room: int) -> Items:
    """Add the tool outputs of *transcript* to *items*, in order.

    Excludes failures, which are items already, and web results, which anyone may have written. Lines that may hold a
    secret are dropped, as are the line numbers that tools add. *room* is what *items* leave of the budget, in
    characters. All outputs together are several times as long, so that there is a choice.
    """
    usable = [(at, entry) for at, entry in enumerate(transcript) if _is_usable(entry)]
    most = min(max(LEAST, _CONSIDERED * room // max(1, len(usable))), MOST)
    outputs = (item for at, entry in usable if (item := _item(at, entry, most)).parts)
    return Items(sorted((*items, *outputs), key=lambda item: item.at))


def _is_usable(result: Entry) -> bool:
    if result.kind is not Kind.TOOL_RESULT:
        return False
    return result.trust is Trust.TOOL and not looks_failed(result) and result.tool not in BOOKKEEPING


def _item(at: int, entry: Entry, most: int) -> Item:
    parts: list[Span] = []
    lines: list[str] = []
    length = 0
    for line in map(unlike_ours, _lines(_readable(entry.text, most))):
        lines.append(line)
        parts.append((length, length + len(line)))
        length += len(line) + 1
    text = "\n".join(lines)
    size = max(len(text), len(entry.text.strip()))
    tool = entry.tool if entry.tool and _ODD_TOOL.search(entry.tool) is None else ""
    return Item(Role.OUTPUT, text, (entry.id,), at, tuple(parts), size=size, of=tool, turn=entry.turn)


def _readable(text: str, most: int) -> str:
    """Return the beginning and the end of *text*, with JSON flattened to `name: value`."""
    if text[:1] in _OPENS_JSON and len(text) <= _LONGEST_JSON:
        with suppress(orjson.JSONDecodeError):  # text that only looks like JSON
            text = ", ".join(islice(map(_said, leaves(orjson.loads(text))), _MOST_VALUES))
    if len(text) <= most:
        return text
    head = int(most * _HEAD)
    tail = text.find("\n", len(text) - most + head) + 1 or len(text)
    return f"{text[: back_to_a_blank(text, head)]}\n{text[tail:]}"


def leaves(value: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield each value within *value* with its dotted name; what is nested too deeply is "..."."""
    if not isinstance(value, Mapping | list | tuple):
        yield name, value
    elif depth == _DEEPEST:
        yield name, "..."
    elif isinstance(value, Mapping):
        for inner_name, inner in cast("Mapping[str, object]", value).items():
            yield from leaves(inner, f"{name}.{inner_name}" if name else inner_name, depth + 1)
    else:
        for inner in cast("Sequence[object]", value):
            yield from leaves(inner, name, depth + 1)


def _said(leaf: tuple[str, object]) -> str:
    name, value = leaf
    said = "null" if value is None else " ".join(str(value).split()) or '""'
    return f"{name}: {said}" if name else said


def _lines(text: str) -> Iterator[str]:
    text = _NUMBERING.sub("", text)
    for whole in text.splitlines():
        if not _ENVELOPE.match(whole):
            yield from filter(None, _shortened(whole.strip()))


def _shortened(line: str) -> Iterator[str]:
    while len(line) > LONGEST_LINE:
        end = line.rfind(" ", LONGEST_LINE // 2, LONGEST_LINE)
        end = end if end > 0 else LONGEST_LINE
        yield line[:end]
        line = line[end:].lstrip()
    yield line
