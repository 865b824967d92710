"""What a text is found by: its words, its identifiers and paths whole, and the parts of these."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import regex

from nous.language import words
from nous.learning.normalise import plain

_INNER = r"[^\s\x00-\x1f\ud800-\udfff\"`*,;()<>{}|\[\]]"
_WHOLE = re.compile(rf"(?:--?|\.|~?/)?\w(?:{_INNER}{{0,200}}\w)?(?:\[{_INNER}{{0,40}}\])?[+#]*")
"""What stands between spaces, quotes and brackets, less the punctuation around it: `src/ingest.rs`, `commit[:7]`."""

_PART = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W_\p{Han}\p{Hiragana}\p{Katakana}]+")
"""A run of letters and digits, or a sign of a script that has no spaces between words."""

_HUMP = regex.compile(r"\p{Lu}?[\p{Ll}\d]+|\p{Lu}+(?!\p{Ll})")
_SLASH = re.compile(r"[/\\]+")

LONGEST = 100
"""Characters of a term; what is longer is nobody's word."""

_REMEMBERED = 1 << 16


def terms(text: str) -> Iterator[str]:
    """Every term of *text*, as often as it occurs. One that has other signs than letters and digits ends in `=`.

    Without that mark `ingest.rs` would be stemmed as a word is.
    """
    return chain.from_iterable(term_groups(text))


def term_groups(text: str) -> Iterator[tuple[str, ...]]:
    """The terms of each word and name of *text*: first the whole, then what are parts of it."""
    spelled = text if text.isascii() else plain(text)
    return map(_terms_of, _WHOLE.findall(spelled.replace("'", "")))


def asked_terms(query: str) -> tuple[str, ...]:
    """The different terms of *query*, in order, but for the words that say nothing of what is looked for."""
    idle = words().sets["stopwords"]
    return tuple(term for term in dict.fromkeys(terms(query)) if term not in idle)


@lru_cache(_REMEMBERED)
def _terms_of(whole: str) -> tuple[str, ...]:
    parts: list[str] = _PART.findall(whole)
    signs_apart = "".join(parts) == whole
    names = () if signs_apart else [name for name in (whole, *_SLASH.split(whole)) if name and not name.isalnum()]
    humps = (hump for part in parts for hump in (part, *_humps(part)))
    return tuple(term.casefold()[:LONGEST] for term in (*(f"{name}=" for name in dict.fromkeys(names)), *humps))


def _humps(word: str) -> list[str]:
    """The words that are joined in `LastInteractionTime`; none of a plain word."""
    found: list[str] = _HUMP.findall(word)
    return found if len(found) > 1 else []
