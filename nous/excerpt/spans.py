"""Show parts of a text: merge spans, mark omissions, close code blocks."""

import re
from collections.abc import Iterable, Sequence
from math import ceil

from nous.excerpt.items import no_label
from nous.text.sentences import TICKS, Fence, Span, fence_at, fences

SHORT_MARK = " [...] "
_BLANKS = "\n "
"""Replaces a long run of blanks. The space keeps a bracket off the start of the line, where a label begins."""

_WORTH_COUNTING = 400
_LONGEST_WORD = 24
_HEADING = re.compile(r"^#{1,6} \S[^\n]*", re.MULTILINE)
_FEWEST_HEADINGS = 3
HEADINGS_SHARE = 0.15
"""Maximum share of the room for the headings of a cut document."""

HEAD = 2 / 3
"""Share of a cut text that is its beginning; the rest is its end."""


def mark(omitted: int) -> str:
    """Return the mark for *omitted* characters of a text."""
    return SHORT_MARK if omitted < _WORTH_COUNTING else f" [... {omitted} characters ...] "


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return *spans* in order, merging those that touch or overlap."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def shown(text: str, spans: Sequence[Span]) -> str:
    """Render the *spans* of *text*, sorted and disjoint, with a mark for each omission."""
    blocks = fences(text)
    if not blocks and len(spans) == 1 and spans[0] == (0, len(text)):
        return text.strip(" ")
    parts: list[str] = []
    position = 0
    for start, end in spans:
        part = _closed(text, (start, end), blocks) if blocks else text[start:end]
        _append(parts, _between(text[position:start], blocks), part)
        parts.append(part)
        position = end
    _append(parts, _between(text[position:], blocks), "")
    return "".join(parts).strip(" ")


def complete(spans: tuple[Span, ...], text: str) -> tuple[Span, ...]:
    """Return *spans*, or all of *text* if only blank space is missing."""
    if spans == ((0, len(text)),):
        return spans
    ends_at = [0, *(end for _, end in spans)]
    begins_at = [*(start for start, _ in spans), len(text)]
    missing = any(text[end:start].strip() for end, start in zip(ends_at, begins_at, strict=True))
    return spans if missing or full_length(text) > len(shown(text, spans)) else ((0, len(text)),)


def shown_length(text: str, spans: Sequence[Span]) -> int:
    """Return the length of what `shown` renders, in characters."""
    is_whole = len(spans) == 1 and spans[0] == (0, len(text))
    return len(text.strip(" ")) if is_whole and TICKS not in text else len(shown(text, spans))


def full_length(text: str) -> int:
    """Return the length of *text* shown whole, with an open code block closed."""
    return len(shown(text, ((0, len(text)),))) if TICKS in text else len(text.strip(" "))


def most_added(text: str, span: Span, *, closing: int, to_nothing: bool) -> int:
    """Return an upper bound for the characters that showing *span* adds, or adds *to_nothing*."""
    if span == (0, len(text)):
        return len(text) + closing
    return span[1] - span[0] + (1 + to_nothing) * len(mark(len(text))) + 2 * closing


def ends(text: str, room: int) -> tuple[Span, ...]:
    """Return the beginning and the end of *text* that fit into *room*; none if it is tiny."""
    if full_length(text) <= room:
        return ((0, len(text)),)
    kept = room - len(mark(len(text))) - 3 * longest_closing(text)
    if kept < 1:
        return ()
    tail = int(kept * (1 - HEAD))
    return merged(((0, back_to_a_blank(text, kept - tail)), (_on_to_a_blank(text, len(text) - tail), len(text))))


def outline(text: str, room: int) -> tuple[Span, ...]:
    """Return `ends`, and for a document also evenly spread headings between them."""
    whole = ends(text, room)
    if whole == ((0, len(text)),) or not whole:
        return whole
    headings = [found.span() for found in _HEADING.finditer(text)]
    if len(headings) < _FEWEST_HEADINGS:
        return whole
    spans = ends(text, int(room * (1 - HEADINGS_SHARE)))
    if len(spans) != len(whole):
        return whole
    between = [heading for heading in headings if spans[0][1] <= heading[0] and heading[1] <= spans[-1][0]]
    cost = sum(end - start + len(mark(len(text))) for start, end in between)
    step = ceil(cost / max(1.0, room * HEADINGS_SHARE))
    outlined = merged((*spans, *between[:: max(1, step)]))
    return outlined if shown_length(text, outlined) <= room else whole


def longest_closing(text: str) -> int:
    """Return an upper bound for closing or reopening a code block of *text*, in characters."""
    return max((len(block.ticks) + 1 for block in fences(text)), default=0) if TICKS in text else 0


def _between(omitted: str, blocks: Sequence[Fence]) -> str:
    """Return the text in place of *omitted*: itself if shorter than its mark, else the mark.

    Blank space alone gets no mark. If the text has code *blocks*, any omitted words get one, since words from a block
    would stand outside it.
    """
    if len(omitted) <= len(SHORT_MARK) and not (blocks and omitted.strip()):
        return omitted
    return mark(len(omitted)) if omitted.strip() else _BLANKS


def _append(parts: list[str], between: str, following: str) -> None:
    """Add *between*, on its own line where a code block ends before it or begins after it."""
    if between.strip():
        between = f"\n{between.strip()} " if parts and parts[-1].endswith(TICKS) else between
        between = f"{between.rstrip()}\n" if following.startswith(TICKS) else between
    is_apart = bool(parts) and parts[-1].endswith((" ", "\n"))
    parts.append(between.removeprefix(" ") if is_apart and between.strip() else between)


def back_to_a_blank(text: str, end: int) -> int:
    """Return the end of the last whole word before *end* if that is near, else *end*."""
    begun = max(0, end - _LONGEST_WORD)
    blank = max(text.rfind(" ", begun, end), text.rfind("\n", begun, end))
    return blank if blank > 0 else end


def _on_to_a_blank(text: str, start: int) -> int:
    blanks = [at for at in (text.find(each, start, start + _LONGEST_WORD) for each in " \n") if at >= 0]
    return min(blanks) + 1 if blanks else start


def _closed(text: str, span: Span, blocks: tuple[Fence, ...]) -> str:
    start, end = _outside_of_ticks(span, blocks)
    opened, left_open = fence_at(start, blocks), fence_at(end, blocks)
    before = f"{opened.ticks}\n" if opened else ""
    after = f"\n{left_open.ticks}" if left_open else ""
    part = no_label(text[start:end]) if opened else text[start:end]
    return f"{before}{part}{after}"


def _outside_of_ticks(span: Span, blocks: tuple[Fence, ...]) -> Span:
    """Shrink *span* so that it does not split the ticks that open or close a block."""
    start, end = span
    opened, left_open = fence_at(start, blocks), fence_at(end, blocks)
    if opened and opened.is_closed and start > opened.closing:
        start = opened.end
    if left_open and end < left_open.start + len(left_open.ticks):
        end = left_open.start
    elif left_open and left_open.is_closed and end > left_open.closing:
        end = left_open.closing
    return start, max(start, end)
