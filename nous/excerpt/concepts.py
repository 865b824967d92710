"""What a piece of text speaks of, as a set of terms, and what each term is worth in its session.

Terms are words as they are written, found by splitting at blanks: that is several times faster than searching for
words, and it decides how many sentences a second can be weighed.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import log

from nous.language import words

WORTH = 1000
"""What a term is worth that is said once."""

IDENTIFIER_WORTH = 2.5
"""How many times as much an identifier is worth."""

OFTEN = 0.5
"""How much more a term is worth for every e-fold more sentences that have it."""

_IDENTIFIER = re.compile(r"\d|[_./:@#$+]|[a-z][A-Z]|-.*-")
_HAN = re.compile(r"[\u3400-\u9fff]")
_ENDS = (". ", ": ", ".\n", ":\n")
_AROUND_WORDS = ',;!?()[]{}<>|="`*~\u201c\u201d\u2018\u2026\u2192\u3000\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f'
_ALONE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:/_-+@#$&%'\\\u2013\u2014\u2022"
_BLANKS = str.maketrans(dict.fromkeys(_AROUND_WORDS, " "))
_LATIN_BLANKS = bytes(32 if chr(byte) in _AROUND_WORDS else byte for byte in range(256))
_OTHER_SCRIPTS = re.compile(r"[\u0100-\u1fff\u2c00-\uffff\U00020000-\U0003ffff]")


class Concepts:
    """Finds the terms of one session's texts.

    An identifier, path or number is one term, and so is every character of Chinese script; stop words are none.
    """

    def __init__(self) -> None:
        stopwords = words().sets["stopwords"]
        self._no_terms = stopwords | {word.capitalize() for word in stopwords} | set(_ALONE) | {"--"}

    @staticmethod
    def bare(text: str) -> str:
        """*text* with blanks for the marks around its words; every character stays in its place."""
        if text.isascii() or not _OTHER_SCRIPTS.search(text):  # bytes are translated fifty times faster
            bare = text.encode("latin-1", "replace").translate(_LATIN_BLANKS).decode("latin-1")
        else:
            bare = text.translate(_BLANKS)
        for end in _ENDS:
            bare = bare.replace(end, "  ")
        return bare

    def of(self, bare: str) -> set[str]:
        """The terms of a sentence that is *bare*. Its first word counts as if it stood elsewhere."""
        if bare[1:2].islower():
            bare = bare[0].lower() + bare[1:]
        terms = set(bare.rstrip(".:").split()) - self._no_terms
        return terms if bare.isascii() else _with_characters(terms)


def worths(spoken: Iterable[Iterable[str]]) -> dict[str, int]:
    """What each term is worth: more, the more of *spoken* have it, and more for an identifier.

    Whole numbers, so that a sum does not depend on the order of a set.
    """
    counted = Counter(chain.from_iterable(spoken))
    most = max(counted.values(), default=0)
    worth = [0, *(round(WORTH * (1 + OFTEN * log(times))) for times in range(1, most + 1))]
    of_identifier = [round(IDENTIFIER_WORTH * one) for one in worth]
    return {term: _worth(term, worth[times], of_identifier[times]) for term, times in counted.items()}


def _worth(term: str, of_word: int, of_identifier: int) -> int:
    """Nothing for a rule of a table; more for what looks like a name in code, a path, a number or an id."""
    if term.isalpha() and (term.islower() or term.istitle()):
        return of_word
    if not any(map(str.isalnum, term)):
        return 0
    return of_identifier if _IDENTIFIER.search(term) else of_word


def _with_characters(terms: set[str]) -> set[str]:
    """*terms*, those taken apart that are written without spaces between the words."""
    unspaced = {term for term in terms if _HAN.search(term)}
    return (terms - unspaced).union(*(_HAN.findall(term) for term in unspaced))
