"""Ranking texts by the words they share with a query."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from nous.learning.normalise import exact_form

_PART = re.compile(r"[^\W_]+")


def terms(text: str) -> frozenset[str]:
    """The words of *text*, whole and, where they are paths or identifiers, in parts too: `src/ingest.rs`, `ingest`."""
    whole = exact_form(text).split()
    return frozenset(whole).union(part for word in whole for part in _PART.findall(word))


def word_scores(query: str, texts: Sequence[str]) -> list[float]:
    """For each of *texts*, the weight of the query's words that occur in it; a rare word weighs more.

    The weight is the inverse document frequency among *texts*, so a word that all of them have weighs next to nothing.
    """
    asked = terms(query)
    present = [asked & terms(text) for text in texts]
    frequency = Counter(term for found in present for term in found)
    return [_weight(found, frequency, len(texts)) for found in present]


def _weight(found: Iterable[str], frequency: Counter[str], total: int) -> float:
    return sum(log((1 + total) / frequency[term]) for term in found)
