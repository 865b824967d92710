"""The lines of a section: what is kept or lost as one."""

import re
from collections.abc import Iterator

from nous.prose import TICKS, Fence, fences, sentences

_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
_SAYS = re.compile(r"[^\W_]")
_CLAUSE = re.compile(r"[;,]\s|\s[\u2013\u2014-]\s|\s(?=\()")


def lines_of(content: str) -> Iterator[str]:
    """The lines of *content* that say anything: a bullet with what is indented below it, or a block of code, is one.

    A block that is never closed is closed, so that it can be put in another place.
    """
    position = 0
    for block in fences(content):
        yield from _lines_of_prose(content[position : block.start])
        yield _closed(content, block)
        position = block.end
    yield from _lines_of_prose(content[position:])


def parts_of(line: str) -> Iterator[str]:
    """What may say by itself what another line says: the whole of *line*, its sentences and its clauses."""
    yield line
    for start, end in sentences(line):
        sentence = line[start:end]
        yield sentence
        yield from _CLAUSE.split(sentence)


def sentences_of(line: str) -> list[str]:
    """*line* in sentences; a block of code is one."""
    return [line[start:end] for start, end in sentences(line) if _SAYS.search(line[start:end])]


def is_code(line: str) -> bool:
    return line.startswith(TICKS)


def _lines_of_prose(text: str) -> Iterator[str]:
    held: list[str] = []
    for line in text.splitlines():
        goes_on = bool(held) and _BULLET.match(held[0]) and line[:1].isspace() and not _BULLET.match(line)
        if not (goes_on and line.strip()):
            yield from _said(held)
            held = []
        held.append(line.rstrip())
    yield from _said(held)


def _said(held: list[str]) -> Iterator[str]:
    text = "\n".join(held)
    if _SAYS.search(text):
        yield text.lstrip("\n")


def _closed(content: str, block: Fence) -> str:
    text = content[block.start : block.end].rstrip()
    return text if block.is_closed else f"{text}\n{block.ticks}"
