"""Finding texts by the words they share with a query."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Generic, TypeVar

from nous.recall.bm25 import Bm25
from nous.recall.fusion import Found
from nous.recall.terms import asked_terms, term_groups, terms

Key = TypeVar("Key")

MOST_TERMS = 256
"""Terms of a query that are looked at, the first."""

_MORE = 8
"""Times as many texts are looked at where too few of those that were are accepted."""

SOME_TERMS = 3
"""Texts that have nothing to do with each other seldom share so many words that say something."""


@dataclass(frozen=True, slots=True)
class Match(Generic[Key]):
    """A text that has some of a query's terms, which these are, and its BM25.

    `share` is how much of the query's weight they are, up to 1: a rare term weighs more, one that no text has most.
    `shown` are the terms for the eye, without the parts of those that stand there whole.
    """

    key: Key
    score: float
    share: float
    terms: tuple[str, ...]
    shown: str

    def is_near(self, share: float) -> bool:
        """Whether it has this *share* of the query's weight or, of a long query, some terms together."""
        return self.share >= share or len(self.terms) >= SOME_TERMS


class WordIndex(Generic[Key]):
    """Texts by key, in memory. Threads may share it, one at a time."""

    def __init__(self) -> None:
        self._rows = Bm25()
        self._keys: list[Key] = []
        self._known: set[Key] = set()

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __len__(self) -> int:
        return len(self._keys)

    def extend(self, texts: Iterable[tuple[Key, str]]) -> None:
        """Add each text under its key; one whose key is there already is passed over."""
        added: dict[Key, str] = {}
        for key, text in texts:
            if key not in self._known and key not in added:
                added[key] = " ".join(terms(text))
        self._rows.add(added.values())
        self._keys.extend(added)
        self._known.update(added)

    def search(self, query: str, limit: int, accepts: Callable[[Key], bool] = lambda _: True) -> list[Match[Key]]:
        """The *limit* texts that answer *query* best, of those whose keys are accepted, best first.

        A query is words, whatever signs it has. One in which none says anything finds nothing.
        """
        stems = {term: "".join(self._rows.stems(term)) for term in asked_terms(query)[:MOST_TERMS]}
        weights = {term: log(1 + len(self) / (0.5 + self._rows.count(stem))) for term, stem in stems.items()}
        groups = [group for group in dict.fromkeys(term_groups(query)) if not stems.keys().isdisjoint(group)]
        matches: list[Match[Key]] = []
        for row, score in self._best([*stems.values()], limit, accepts):
            there = self._rows.row(row)
            shared = tuple(term for term, stem in stems.items() if stem in there)
            share = sum(map(weights.__getitem__, shared)) / sum(weights.values())
            matches.append(Match(self._keys[row], score, share, shared, _shown(groups, shared)))
        return matches

    def _best(self, stems: Sequence[str], limit: int, accepts: Callable[[Key], bool]) -> list[tuple[int, float]]:
        """The *limit* best rows of those accepted, and their scores."""
        found, looked_at = list[tuple[int, float]](), min(limit, len(self))
        while stems and looked_at:
            found = self._rows.best(stems, looked_at)
            accepted = [each for each in found if accepts(self._keys[each[0]])][:limit]
            if len(accepted) == limit or len(found) < looked_at or looked_at == len(self):
                return accepted
            looked_at = min(_MORE * looked_at, len(self))
        return found


def _shown(groups: Iterable[Sequence[str]], found: Collection[str]) -> str:
    """The terms that were *found*, without those that are parts of a longer one of their group."""
    told: dict[str, None] = {}
    for group in groups:
        longer: list[str] = []
        for term in group:
            name = term.removesuffix("=")
            if term in found and not any(name in each for each in longer):
                longer.append(name)
        told |= dict.fromkeys(longer)
    return ", ".join(told)


def ranking(matches: Collection[Match[Key]], share: float) -> dict[Key, Found]:
    """*matches* as a ranking, in which those with that *share* of the query are near.

    Half of the score is the share: to BM25 alone, words that half of a small index has are worth nothing.
    """
    best_share = max((match.share for match in matches), default=0.0) or 1.0
    best_score = max((match.score for match in matches), default=0.0) or 1.0
    return {
        match.key: Found((match.share / best_share + match.score / best_score) / 2, match.shown, match.is_near(share))
        for match in matches
    }
