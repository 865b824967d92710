"""Turns in pieces small enough to be embedded one by one."""

from dataclasses import dataclass

import regex

SIZE = 256
"""Tokens of a piece: as many as small embedding models read."""

OVERLAP = 40
"""Tokens that a piece has in common with the one before it."""

_TOKEN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|\w{1,16}|[^\w\s]")
"""A word (longer ones in parts), a sign of a script that has no spaces between words, or a sign."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The *index*-th piece of a turn (from 0): what stands from *begin* up to *end* in its text."""

    turn: int
    index: int
    begin: int
    end: int
    text: str


def chunk(text: str, *, turn: int = 0, size: int = SIZE, overlap: int = OVERLAP) -> tuple[Chunk, ...]:
    """*text* in pieces of *size* tokens, each of which begins *overlap* tokens before the end of the last.

    Together they hold every character of *text*; a short one is one piece. Raises ValueError unless
    0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"pieces of {size} tokens cannot have {overlap} in common")
    starts = [found.start() for found in _TOKEN.finditer(text)]
    firsts = range(0, max(1, len(starts) - overlap), size - overlap)
    begins = [starts[first] if first else 0 for first in firsts]
    ends = [starts[first + size] if first + size < len(starts) else len(text) for first in firsts]
    return tuple(
        Chunk(turn, index, begin, end, text[begin:end])
        for index, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
