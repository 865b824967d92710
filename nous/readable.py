"""Texts from anywhere, as people may be shown them."""

import re

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
