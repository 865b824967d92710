"""The form in which equal texts are equal: case, spaces, quotes and punctuation aside."""

import re
import unicodedata

_RAISED = str.maketrans({digit: f"^{number}" for number, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
"""NFKC would make `10²` and `102` the same."""

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u02bc\u00b4"
_QUOTES = '"`*\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a'
_HYPHENS = "\u2010\u2011\u2012\u2013\u2212"
_LONG_DASH = "\u2014"
_PLAIN = str.maketrans(
    dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_QUOTES) | dict.fromkeys(_HYPHENS, "-") | {_LONG_DASH: " - "}
)
_OPENING = "([{<,;:!…"
_CLOSING = ")]}>.,;:!…"
_MEANINGFUL = re.compile(r"[^\W_]|[+#$%&=<>@/\\|~^?-]")


def plain(text: str) -> str:
    """*text* in NFKC, with one kind of apostrophe and hyphen, without quotes and emphasis."""
    return unicodedata.normalize("NFKC", text.translate(_RAISED).translate(_PLAIN))


def exact_form(text: str) -> str:
    """*text* casefolded, without quotes, outer punctuation and needless spaces; empty if nothing is left.

    Punctuation inside a word stays, since `3.5`, `a/b` and `commit[:7]` need it, and so does what has a meaning of its
    own at an edge: `-5`, `C++`, `.env`, a question mark.
    """
    words = (_bare(word) for word in plain(text).casefold().replace("'", "").split())
    return " ".join(word for word in words if word)


def _bare(word: str) -> str:
    if word.isalnum():
        return word  # as most are
    core = word.lstrip(_OPENING).rstrip(_CLOSING)
    return core if _MEANINGFUL.search(core) and core != "-" else ""
