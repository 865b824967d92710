"""What a piece of text speaks of, as a set of terms, and what each term is worth in its session."""

import re
from collections import Counter
from collections.abc import Iterable
from math import log

from nous.language import words

_TERM = re.compile(r"[\w$@#][\w./:@#$+-]*[\w]")
_IDENTIFIER = re.compile(r"\d|[_./:@#$+]|[a-z][A-Z]|-.*-")
IDENTIFIER_WORTH = 2.0


def concepts(text: str) -> frozenset[str]:
    """The terms of *text* in lower case, without stop words. An identifier, path or number is one term."""
    stopwords = words().sets["stopwords"]
    return frozenset(term for found in _TERM.findall(text) if (term := found.lower()) not in stopwords)


def identifiers(text: str) -> frozenset[str]:
    """Those terms of *text* that look like a name in code, a path, a number or an id."""
    return frozenset(found.lower() for found in _TERM.findall(text) if _IDENTIFIER.search(found))


def worths(pieces: Iterable[str]) -> dict[str, float]:
    """What each term is worth: more, the more pieces speak of it, and twice as much for an identifier."""
    spoken: Counter[str] = Counter()
    named: set[str] = set()
    for piece in pieces:
        spoken.update(concepts(piece))
        named |= identifiers(piece)
    return {term: (1 + log(times)) * (IDENTIFIER_WORTH if term in named else 1.0) for term, times in spoken.items()}
