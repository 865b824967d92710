"""Render turns as text, and split that text into chunks for embedding."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import regex

from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_summary import extract_tool_summary

BETWEEN = "\n\n"
BETWEEN_CALLS = " | "
_LABELS = {Kind.USER: "User", Kind.SUMMARY: "Summary", Kind.ASSISTANT: "Assistant", Kind.DECISION: "Decision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnText:
    """The text of one turn, and all its entries.

    Tool results are not in `text`. `text` ends with the prompt of the next turn, which shows how this one was received.
    """

    number: int
    text: str
    entries: tuple[Entry, ...]


def group_into_turns(entries: Transcript | Iterable[Entry]) -> tuple[TurnText, ...]:
    """Return the turns that hold an answer or an action; bookkeeping does not count."""
    turns = [tuple(owned) for _, owned in groupby(entries, key=lambda entry: entry.turn)]
    asked_next = [*(_texts(owned, Kind.USER) for owned in turns[1:]), ""]
    return tuple(
        TurnText(
            number=owned[0].turn,
            text=BETWEEN.join([*blocks, *([f"[User] {following}"] if following else [])]),
            entries=owned,
        )
        for owned, following in zip(turns, asked_next, strict=False)  # without turns, asked_next has one element more
        if (blocks := list(_blocks(owned)))
    )


def _blocks(owned: Sequence[Entry]) -> Iterator[str]:
    said = {kind: _texts(owned, kind) for kind in _LABELS}
    summaries = (extract_tool_summary(entry.tool, entry.tool_input) for entry in owned if entry.kind is Kind.TOOL_CALL)
    calls = BETWEEN_CALLS.join(filter(None, summaries))
    if not calls and not any(said[kind] for kind in _LABELS if kind is not Kind.USER):
        return
    for kind, label in _LABELS.items():
        if said[kind]:
            yield f"[{label}] {said[kind]}"
    if calls:
        yield f"[Tools] {calls}"


def _texts(owned: Sequence[Entry], kind: Kind) -> str:
    return BETWEEN.join(entry.text for entry in owned if entry.kind is kind)


SIZE = 256  # tokens per chunk: the input limit of small embedding models
OVERLAP = 40  # tokens that a chunk shares with the one before it

_TOKEN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|\w{1,16}|[^\w\s]")
"""A word (in parts of 16 characters), a character of a script without spaces between words, or a symbol."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The *index*-th chunk of a turn (from 0): its text from *begin* up to *end*."""

    turn: int
    index: int
    begin: int
    end: int
    text: str


def chunk(text: str, *, turn: int = 0, size: int = SIZE, overlap: int = OVERLAP) -> tuple[Chunk, ...]:
    """Split *text* into chunks of *size* tokens that overlap by *overlap* and lose no character."""
    starts = [found.start() for found in _TOKEN.finditer(text)]
    firsts = range(0, max(1, len(starts) - overlap), size - overlap)
    begins = [starts[first] if first else 0 for first in firsts]
    ends = [starts[first + size] if first + size < len(starts) else len(text) for first in firsts]
    return tuple(
        Chunk(turn, index, begin, end, text[begin:end])
        for index, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
