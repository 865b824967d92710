"""Texts from anywhere, as people may be shown them."""

import re

import regex

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""What steers a terminal, or breaks a line unseen; not tabs and line breaks."""

_UNSEEN = re.compile(r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""What takes no room: marks that turn around what stands beside them, or say where a word may be broken."""


def readable(text: str) -> str:
    """*text* with a blank for each sign that steers a terminal, and without marks that nobody sees.

    Whoever wrote it may come from anywhere.
    """
    return _STEERING.sub(" ", _UNSEEN.sub("", text))


def one_line(text: str) -> str:
    """*text* as `readable` gives it, with a blank for each line break: what is a row stays one."""
    return " ".join(filter(None, map(str.strip, readable(text).split("\n"))))


def shortened(text: str, most: int = 1000) -> str:
    """*text* on one line of at most *most* characters: what it quotes may be of any length."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


_WINDOW = 200
_FARTHEST = 10_000


def first_graphemes(text: str, limit: int) -> str:
    """*text*, or its first *limit* grapheme clusters and `...` if it has more of them."""
    if len(text) <= limit:
        return text
    if text.isascii() and "\r" not in text:
        return f"{text[:limit]}..."
    kept = regex.match(rf"\X{{{limit}}}", text)
    return f"{kept[0]}..." if kept and kept.end() < len(text) else text


def boundary_before(text: str, position: int) -> int:
    """The last place up to *position* where *text* can be cut without tearing a grapheme cluster."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    if text[position - 1 : position + 1].isascii():  # which is nearly always so, and needs no look at the rest
        return position
    start = last = _sure_boundary(text, max(0, position - _WINDOW))
    for cluster in regex.finditer(r"\X", text, pos=start, endpos=position + _WINDOW):
        if cluster.end() > position:
            return last if last > start or start == 0 else position  # one endless cluster has to be torn somewhere
        last = cluster.end()
    return position


def _sure_boundary(text: str, position: int) -> int:
    """A boundary not far before *position*: where an ASCII sign begins there always is one."""
    for candidate in range(position, max(-1, position - _FARTHEST), -1):
        if candidate == 0 or (text[candidate].isascii() and text[candidate] != "\n"):
            return candidate
    return position


def boundary_after(text: str, position: int) -> int:
    """The first place from *position* on where *text* can be cut without tearing a grapheme cluster."""
    before = boundary_before(text, position)
    if before == position:
        return position
    cluster = regex.match(r"\X", text, pos=before, endpos=position + _WINDOW)
    return cluster.end() if cluster else position
