"""Split text into sentences and code blocks, as character spans; shorten text at a word."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

Span = tuple[int, int]

TICKS = "```"
_TICKS = re.compile(r"```+")  # begins with a literal, which makes the search fast
# Begins with a single character class, which makes the search fast.
_GAP = re.compile(r"[.!?\r\n\u3002\uff01\uff1f](?:(?<=[.!?])[\"')\]*]*\s+|(?<=[\r\n])\s*|(?<=[\u3002\uff01\uff1f]))")
_LOOKED_BACK = 64
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Mrs|Ms|Dr|St|No)|\b[A-Z])\.$")
_ONLY_NUMBERING = re.compile(r"\s*(?:\d+|[a-zA-Z])[.)]\s*$")


@dataclass(frozen=True, slots=True)
class Fence:
    """A code block: up to the end of its *closing* ticks, or of the text if it is never closed."""

    start: int
    end: int
    ticks: str
    closing: int
    is_closed: bool


def fences(text: str) -> tuple[Fence, ...]:
    if TICKS not in text:
        return ()
    found: list[Fence] = []
    opening: re.Match[str] | None = None
    for ticks in _TICKS.finditer(text):
        if opening is None:
            opening = ticks
        elif len(ticks[0]) >= len(opening[0]):
            found.append(Fence(opening.start(), ticks.end(), opening[0], ticks.start(), is_closed=True))
            opening = None
    if opening is not None:
        found.append(Fence(opening.start(), len(text), opening[0], len(text), is_closed=False))
    return tuple(found)


def fence_at(position: int, blocks: tuple[Fence, ...]) -> Fence | None:
    """Return the block inside which *position* lies: text that ends there leaves it open."""
    index = bisect_right(blocks, position - 1, key=lambda block: block.start) - 1
    if index < 0:
        return None
    block = blocks[index]
    return block if position < block.end or not block.is_closed else None


def sentences(text: str) -> Iterator[Span]:
    """Yield the spans of sentences, list items, headings, table rows and whole code blocks."""
    position = 0
    for block in fences(text):
        yield from _sentences_of_prose(text, position, block.start)
        yield block.start, block.end
        position = block.end
    yield from _sentences_of_prose(text, position, len(text))


def shortened(text: str, longest: int) -> str:
    """Return *text*, or as many whole words as fit into *longest* characters, with an ellipsis."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    return f"{head[: head.rfind(' ') if ' ' in head[longest // 2 :] else len(head)].rstrip(' ,;:')}…"


def _sentences_of_prose(text: str, start: int, end: int) -> Iterator[Span]:
    begun = start
    for gap in _GAP.finditer(text, start, end):
        ends_line = text[at := gap.start()] in "\r\n"
        stop = at if ends_line else at + 1
        if not ends_line and (text.startswith("|", begun) or _goes_on(text[max(begun, stop - _LOOKED_BACK) : stop])):
            continue
        yield from _stripped(text, begun, stop)
        begun = gap.end()
    yield from _stripped(text, begun, end)


def _goes_on(so_far: str) -> bool:
    """Return whether the mark at the end of *so_far* ends an abbreviation or a list number."""
    return _ABBREVIATION.search(so_far[-8:]) is not None or _ONLY_NUMBERING.match(so_far) is not None


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if stripped := piece.strip():
        begun = start if len(stripped) == len(piece) else start + len(piece) - len(piece.lstrip())
        yield begun, begun + len(stripped)
