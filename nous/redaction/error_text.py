"""Redact error messages for storage and logs: mask credentials, elide long quotes.

An error message may quote what was read: a line of a transcript, a key, an answer. Names and numbers help an operator
and are kept. Long quotes are replaced by their length.
"""

import re

from nous.redaction.redactor import masked
from nous.text.sanitize import one_line

_LONGEST = 400
"""Default limit of one message, in characters."""

_NAME = 60
_WORDS = 3
_PATH = 200
"""A quote of at most `_NAME` characters and `_WORDS` words is a name, one of at most `_PATH` characters a path or an
address. Longer quotes are content.
"""

_QUOTED = re.compile(r"(?<!\w)(['\"`])((?:\\.|(?!\1(?!\w)).)*)(\1(?!\w)|$)", re.DOTALL)
"""A quoted span. Without a closing quote it runs to the end of the text; the opening quote may then be an apostrophe.
"""

_PARTIAL = re.compile(r"\[secret:[^\]]*$")
"""A placeholder that a cut has left open."""

_EXAMINED = 10
"""Only the first `_EXAMINED * limit` characters are examined: the rest would be cut off anyway."""


def redacted(text: str, *, limit: int = _LONGEST) -> str:
    """Return *text* on one line, credentials masked, each long quote replaced by its length.

    The result has at most *limit* characters. Idempotent: redacted text is returned unchanged.
    """
    # Some messages quote a lone surrogate, which can neither be stored nor printed.
    line = one_line(text[: _EXAMINED * limit].encode(errors="replace").decode())
    short = _QUOTED.sub(_elided, masked(line))
    return short if len(short) <= limit else f"{_PARTIAL.sub('', short[: limit - 1]).rstrip()}…"


def _elided(found: re.Match[str]) -> str:
    mark, quoted, end = found[1], found[2], found[3]
    return found[0] if _is_name(quoted) else f"{mark}{len(quoted):,} characters{end}"


def _is_name(quoted: str) -> bool:
    words = quoted.split()
    if len(words) == 1:
        return len(quoted) <= (_PATH if "/" in quoted else _NAME)
    return len(quoted) <= _NAME and len(words) <= _WORDS
