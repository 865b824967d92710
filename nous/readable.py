"""Texts from anywhere, as people may be shown them."""

import re

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal, or turns around what stands beside it; not tabs and line breaks."""


def readable(text: str) -> str:
    """*text* with a blank for each sign that steers a terminal: whoever wrote it may come from anywhere."""
    return _STEERING.sub(" ", text)
