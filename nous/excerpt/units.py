"""Split items into sentences and calls, and extract the terms of each.

Terms are words as written, split at blanks. That is several times faster than searching for words, and it limits how
many sentences per second can be rated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import log

from nous.excerpt.items import Item
from nous.excerpt.spans import back_to_a_blank
from nous.text.language import words
from nous.text.sentences import Span, sentences

WORTH = 1000
"""Worth of a term that occurs once."""

IDENTIFIER_WORTH = 2.5
"""Factor for an identifier."""

OFTEN = 0.5
"""Worth added for every e-fold increase in the sentences that have the term."""

_IDENTIFIER = re.compile(r"\d|[_./:@#$+]|[a-z][A-Z]|-.*-")
_HAN = re.compile(r"[\u3400-\u9fff]")
_ENDS = (". ", ": ", ".\n", ":\n")
_AROUND_WORDS = ',;!?()[]{}<>|="`*~\u201c\u201d\u2018\u2026\u2192\u3000\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f'
_ALONE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:/_-+@#$&%'\\\u2013\u2014\u2022"
_BLANKS = str.maketrans(dict.fromkeys(_AROUND_WORDS, " "))
_LATIN_BLANKS = bytes(32 if chr(byte) in _AROUND_WORDS else byte for byte in range(256))
_OTHER_SCRIPTS = re.compile(r"[\u0100-\u1fff\u2c00-\uffff\U00020000-\U0003ffff]")


class Concepts:
    """Term extractor: an identifier, number or Chinese character is one, a stop word none."""

    def __init__(self) -> None:
        stopwords = words().sets["stopwords"]
        self._no_terms = stopwords | {word.capitalize() for word in stopwords} | set(_ALONE) | {"--"}

    @staticmethod
    def bare(text: str) -> str:
        """Replace the marks around words with blanks; every character keeps its position."""
        if text.isascii() or not _OTHER_SCRIPTS.search(text):  # translating bytes is fifty times faster
            bare = text.encode("latin-1", "replace").translate(_LATIN_BLANKS).decode("latin-1")
        else:
            bare = text.translate(_BLANKS)
        for end in _ENDS:
            bare = bare.replace(end, "  ")
        return bare

    def of(self, bare: str) -> set[str]:
        """Return the terms of a *bare* sentence, ignoring the capital of its first word."""
        if bare[1:2].islower():
            bare = bare[0].lower() + bare[1:]
        terms = set(bare.rstrip(".:").split()) - self._no_terms
        return terms if bare.isascii() else _with_characters(terms)


def worths(spoken: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return worths of terms: integers, so that a sum does not depend on set order."""
    counted = Counter(chain.from_iterable(spoken))
    most = max(counted.values(), default=0)
    worth = [0, *(round(WORTH * (1 + OFTEN * log(times))) for times in range(1, most + 1))]
    of_identifier = [round(IDENTIFIER_WORTH * one) for one in worth]
    return {term: _worth(term, worth[times], of_identifier[times]) for term, times in counted.items()}


def _worth(term: str, of_word: int, of_identifier: int) -> int:
    """Return the worth of one *term*; 0 for the rule of a table."""
    if term.isalpha() and (term.islower() or term.istitle()):
        return of_word
    if not any(map(str.isalnum, term)):
        return 0
    return of_identifier if _IDENTIFIER.search(term) else of_word


def _with_characters(terms: set[str]) -> set[str]:
    """Split those *terms* into characters that are written without spaces."""
    unspaced = {term for term in terms if _HAN.search(term)}
    return (terms - unspaced).union(*(_HAN.findall(term) for term in unspaced))


LONGEST_PIECE = 400
CONSIDERED = 300_000
_LONGEST_SHOUT = 30


class TextUnit:
    """A sentence or call: *span* of the item at *index*.

    `news` are the terms that nothing selected contains yet. *factor* scales their worth by the kind of unit. Until
    `is_read` is set, it is an upper bound.
    """

    __slots__ = ("factor", "index", "is_read", "length", "news", "span")

    def __init__(self, index: int, span: Span, news: set[str]) -> None:
        self.index = index
        self.span = span
        self.length = span[1] - span[0]
        self.news = news
        self.factor = 1.0
        self.is_read = False


def units_of(items: Sequence[Item]) -> list[list[TextUnit]]:
    """Return the units of every item, in order.

    In a session of more than `CONSIDERED` characters, every item is considered up to the same length. A message states
    its subject at its beginning, and the work stays bounded.
    """
    concepts = Concepts()
    most = _equal_share([len(item.text) for item in items], CONSIDERED)
    return [list(_units(index, item, concepts, most)) for index, item in enumerate(items)]


def _units(index: int, item: Item, concepts: Concepts, most: int) -> Iterator[TextUnit]:
    bare = concepts.bare(item.text[:most])
    for start, end in _parts(item, len(bare)):
        yield TextUnit(index, (start, end), concepts.of(bare[start:end]))


def _parts(item: Item, most: int) -> Iterator[Span]:
    """Yield the sentences or calls of *item* that begin in its first *most* characters."""
    for start, end in item.parts or _complete(item.text[:most]):
        begun = start
        while begun < min(end, most):
            stop = end if end - begun <= LONGEST_PIECE else back_to_a_blank(item.text, begun + LONGEST_PIECE)
            yield begun, stop
            begun = stop


def _complete(text: str) -> Iterator[Span]:
    """Yield sentences; a short exclamation, which says nothing alone, joins the next one."""
    begun: int | None = None
    end = 0
    for start, end in sentences(text):
        begun = start if begun is None else begun
        if text[end - 1] != "!" or end - begun > _LONGEST_SHOUT:
            yield begun, end
            begun = None
    if begun is not None:
        yield begun, end


def _equal_share(lengths: Sequence[int], room: int) -> int:
    """Return the maximum length of each that keeps the total within *room*."""
    if sum(lengths) <= room:
        return max(lengths, default=0)
    left = room
    for number, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - number)
        if length > share:
            return share
        left -= length
    return room
