"""Strip control and invisible characters from untrusted text; cut text between graphemes."""

import re

import regex

# Control characters that steer a terminal or break a line invisibly; not tabs and line breaks.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Invisible characters: bidi controls, soft hyphens, zero-width spaces, word joiners, byte order marks."""


def readable(text: str) -> str:
    """Return untrusted *text* safe for display: no control or invisible characters."""
    return _STEERING.sub(" ", _UNSEEN.sub("", text))


def one_line(text: str) -> str:
    """Return *text* safe for display on one line; line breaks become blanks."""
    return " ".join(filter(None, map(str.strip, readable(text).split("\n"))))


def shortened(text: str, most: int = 1000) -> str:
    """Return *text* on one line of at most *most* characters, with an ellipsis if it was cut."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


_WINDOW = 200


def first_graphemes(text: str, limit: int) -> str:
    """Return *text*, or its first *limit* grapheme clusters and `...` if it has more."""
    if len(text) <= limit:
        return text
    if text.isascii() and "\r" not in text:
        return f"{text[:limit]}..."
    kept = regex.match(rf"\X{{{limit}}}", text)
    return f"{kept[0]}..." if kept and kept.end() < len(text) else text


def boundary_before(text: str, position: int) -> int:
    """Return the last position up to *position* where a cut splits no grapheme cluster."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    if text[position - 1 : position + 1].isascii():  # the common case: no need to look at the rest
        return position
    start = max(0, position - _WINDOW)  # no cluster of a real text is as long
    clusters = regex.finditer(r"\X", text, pos=start, endpos=position + _WINDOW)
    return max((cluster.end() for cluster in clusters if cluster.end() <= position), default=start)


def boundary_after(text: str, position: int) -> int:
    """Return the first position from *position* on where a cut splits no grapheme cluster."""
    before = boundary_before(text, position)
    if before == position:
        return position
    cluster = regex.match(r"\X", text, pos=before, endpos=position + _WINDOW)
    return cluster.end() if cluster else position
