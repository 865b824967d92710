"""Texts of errors, as they may be kept and logged: without credentials, and without what somebody else has said.

Whoever raises an error may quote what was read: a line of a transcript, a key, an answer. Names and numbers are what
helps an operator; long quotes are what must not be kept.
"""

import re

from nous.redaction.secrets import masked
from nous.text.sanitize import one_line

_LONGEST = 400
"""Characters of one text."""

_NAME = 60
_WORDS = 3
_PATH = 200
"""What is quoted may be a name, of so many characters and words, or a path or an address; longer is content."""

_QUOTED = re.compile(r"(?<!\w)(['\"`])((?:\\.|(?!\1(?!\w)).)*)(\1(?!\w)|$)", re.DOTALL)
"""What is quoted; where the end of the text comes first, it may be an apostrophe as well."""

_READ = 10
"""Of a text, so many times what is kept of it is looked at: what follows is cut off anyway."""


def redacted(text: str, *, limit: int = _LONGEST) -> str:
    """*text* on one line of at most *limit* characters, with its length in the place of a long quote.

    Credentials are masked. What is redacted already stays as it is.
    """
    told = _QUOTED.sub(_shown, masked(_on_one_line(text[: _READ * limit])))
    return told if len(told) <= limit else masked(told[: limit - 1].rstrip() + "…")


def _on_one_line(text: str) -> str:
    # Half a character, as some error texts quote it, can neither be stored nor shown.
    return one_line(text.encode(errors="replace").decode())


def _shown(found: re.Match[str]) -> str:
    mark, quoted, end = found[1], found[2], found[3]
    return found[0] if _is_name(quoted) else f"{mark}{len(quoted):,} characters{end}"


def _is_name(quoted: str) -> bool:
    words = quoted.split()
    if len(words) == 1:
        return len(quoted) <= (_PATH if "/" in quoted else _NAME)
    return len(quoted) <= _NAME and len(words) <= _WORDS
