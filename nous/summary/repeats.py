"""Which facts of one session say what another of them says already."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from nous.episode import CandidateFact, Category, Trust
from nous.language import words
from nous.summary.heard import Claim, Heard
from nous.summary.lessons import alike

_SHARE = 0.8
_FEWEST = 3
_WORD = re.compile(r"[\w'\u2019]+")


class _Said(NamedTuple):
    """A fact as something to be said, and as something that says others; the words that turn its sense, its denials."""

    claim: Claim
    heard: Heard
    turning: frozenset[str]
    denials: int


def distinct(facts: Iterable[CandidateFact], most: int | None = None) -> list[CandidateFact]:
    """At most *most* of *facts* that none before them says: the user's first, and then the surest, and the longest.

    So an agent that repeats a rule does not make a second one of it.
    """
    kept: list[CandidateFact] = []
    for fact in sorted(facts, key=lambda one: (one.trust is not Trust.USER, -one.confidence, -len(one.text))):
        if len(kept) == most:
            break
        if not any(alike(fact.text, other.text) or _retells(fact, other) for other in kept):
            kept.append(fact)
    return kept


def _retells(fact: CandidateFact, other: CandidateFact) -> bool:
    """Whether *other* says all of *fact* that cannot be put in other words, and most of the rest.

    That a thing was done says more than that it was wanted.
    """
    if fact.category is Category.EVENT and other.category is not Category.EVENT:
        return False
    one, all_of_it = _said(fact.text), _said(other.text)
    is_of_one_sense = (one.turning, one.denials) == (all_of_it.turning, all_of_it.denials)
    return is_of_one_sense and len(one.claim.content) >= _FEWEST and all_of_it.heard.says(one.claim, _SHARE)


@lru_cache(maxsize=8192)
def _said(text: str) -> _Said:
    """Remembered, because every fact is compared with many."""
    sets = words().sets
    told = [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]
    denials = sum(word in sets["denials"] or word.endswith("n't") for word in told)
    return _Said(Claim.of(text), Heard(text), frozenset(told) & sets["turning"], denials)
