"""Long text as its beginning and its end."""

import re

from nous.transcript.tools.graphemes import boundary_after, boundary_before

LONGEST_MARK = 45
"""Characters of a mark for the longest text there could be."""

_HEAD = 0.7
_MARK = re.compile(r"\n\n\.\.\. \[truncated \d{1,12} chars\] \.\.\.\n\n")


def cut(text: str, limit: int) -> str:
    """*text*, or its beginning and end (7 : 3) around a mark that says how many characters are missing.

    Of the text at most *limit* characters are kept, fewer where a cut would tear what people take for one sign. The
    mark is not counted.
    """
    if len(text) <= limit:
        return text
    head = boundary_before(text, int(limit * _HEAD))
    tail = boundary_after(text, len(text) - (limit - int(limit * _HEAD)))
    return f"{text[:head]}\n\n... [truncated {tail - head} chars] ...\n\n{text[tail:]}"


def is_cut(text: str, limit: int) -> bool:
    """Whether *text* holds a mark, without which it would be no longer than *limit*."""
    mark = _MARK.search(text)
    return mark is not None and len(text) - len(mark[0]) <= limit
