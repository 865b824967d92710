"""Texts from anywhere, as people may be shown them."""

import re

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What steers a terminal, breaks a line unseen, or turns around what stands beside it; not tabs and line breaks."""


def readable(text: str) -> str:
    """*text* with a blank for each sign that steers a terminal: whoever wrote it may come from anywhere."""
    return _STEERING.sub(" ", text)


def one_line(text: str) -> str:
    """*text* as `readable` gives it, with a blank for each line break: what is a row stays one."""
    return " ".join(filter(None, map(str.strip, readable(text).split("\n"))))
