"""Finding texts by the words they share with a query: BM25, as SQLite's full-text index computes it."""

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import log
from typing import Generic, TypeVar

from nous.recall.fusion import Found
from nous.recall.stems import Stems, opened
from nous.recall.terms import asked_terms, terms

Key = TypeVar("Key")

MOST_TERMS = 256
"""Terms of a query that are looked at, the first."""

MOST_ROWS = 10_000
"""Texts that are scored for a query in an index that has more, since scoring is what costs.

The query's rarest terms choose them, and those that very many texts have choose none. Where all of them are of that
sort, the newest texts are scored.
"""

SOME_TERMS = 3
"""Texts that have nothing to do with each other seldom share so many words that say something."""


@dataclass(frozen=True, slots=True)
class Match(Generic[Key]):
    """A text that has some of a query's terms, which these are, and its BM25.

    `share` is how much of the query's weight they are, up to 1: a rare term weighs more, one that no text has most.
    """

    key: Key
    score: float
    share: float
    terms: tuple[str, ...]

    def is_near(self, share: float) -> bool:
        """Whether it has this *share* of the query's weight or, of a long query, some terms together."""
        return self.share >= share or len(self.terms) >= SOME_TERMS

    @property
    def shown(self) -> str:
        """The terms for the eye, without the parts of those that stand there whole."""
        whole = [term[:-1] for term in self.terms if term.endswith("=")]
        rest = [term for term in self.terms if not term.endswith("=")]
        longer = {term: [name for name in (*whole, *rest) if name != term] for term in rest}
        return ", ".join((*whole, *(term for term in rest if not any(term in name for name in longer[term]))))


class WordIndex(Generic[Key]):
    """Texts by key, in memory. Threads may share it, one at a time."""

    def __init__(self) -> None:
        """Raises Misconfigured where SQLite has no full-text index."""
        self._db = opened()
        weakref.finalize(self, self._db.close)
        self._stems = Stems(self._db)
        self._keys: list[Key] = []
        self._known: set[Key] = set()
        self._counts: dict[str, int] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __len__(self) -> int:
        return len(self._keys)

    def extend(self, texts: Iterable[tuple[Key, str]]) -> None:
        """Add each text under its key; one whose key is there already is passed over."""
        self._counts.clear()
        self._db.execute("BEGIN")
        try:
            self._db.executemany("INSERT INTO texts (rowid, terms) VALUES (?, ?)", self._rows(texts))
        finally:
            self._db.execute("COMMIT")

    def _rows(self, texts: Iterable[tuple[Key, str]]) -> Iterator[tuple[int, str]]:
        for key, text in texts:
            if key not in self._known:
                spelled = " ".join(terms(text))
                self._known.add(key)
                self._keys.append(key)
                yield len(self._keys) - 1, spelled

    def search(self, query: str, limit: int, accepts: Callable[[Key], bool] = lambda _: True) -> list[Match[Key]]:
        """The *limit* texts that answer *query* best, of those whose keys are accepted, best first.

        A query is words, whatever signs it has. One in which none says anything finds nothing.
        """
        counts = {term: self._count(term) for term in asked_terms(query)[:MOST_TERMS]}
        accepted = ((row, score) for row, score in self._scored(counts) if accepts(self._keys[row]))
        best = list(islice(accepted, limit))
        weights = {term: log(1 + len(self) / (0.5 + count)) for term, count in counts.items()}
        shared = self._shared([row for row, _ in best], weights)
        return [
            Match(self._keys[row], -score, sum(map(weights.__getitem__, found)) / sum(weights.values()), found)
            for (row, score), found in zip(best, shared, strict=True)
        ]

    def _count(self, term: str) -> int:
        """How many texts have *term*; not counted beyond MOST_ROWS."""
        if term not in self._counts:
            sql = "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT ?)"
            self._counts[term] = self._db.execute(sql, (_quoted(term), MOST_ROWS)).fetchone()[0]
        return self._counts[term]

    def _scored(self, counts: Mapping[str, int]) -> Iterator[tuple[int, float]]:
        """Rows and their scores, of which the least is best."""
        chosen = _choosing(counts, MOST_ROWS if len(self) > MOST_ROWS else None)
        first = len(self) - MOST_ROWS if sum(counts[term] for term in chosen) >= MOST_ROWS else 0
        sql = "SELECT rowid, bm25(texts) AS score FROM texts WHERE texts MATCH ? AND rowid >= ? ORDER BY score, rowid"
        return self._db.execute(sql, (" OR ".join(map(_quoted, chosen)), first)) if chosen else iter(())

    def _shared(self, rows: list[int], asked: Mapping[str, float]) -> list[tuple[str, ...]]:
        """For each row, which of the terms that were *asked* it has, in one form or another."""
        heads = {term[:2] for term in asked}
        folded = not all(term.isascii() for term in asked)
        texts = [self._db.execute("SELECT terms FROM texts WHERE rowid = ?", (row,)).fetchone()[0] for row in rows]
        # A stem begins as its word does, so that few words have to be stemmed; a lost accent may change that.
        near = [
            {term for term in text.split(" ") if folded or term[:2] in heads or not term.isascii()} for text in texts
        ]
        stems = self._stems.of(set(asked).union(*near))
        there = [{stems[term] for term in found} for found in near]
        return [tuple(term for term in asked if stems[term] in found) for found in there]


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


def _choosing(counts: Mapping[str, int], most: int | None) -> list[str]:
    """The terms that choose which texts are scored: all that any text has, or the rarest of these.

    Those of which *most* texts in sum are not exceeded, and at least one.
    """
    rarest = sorted((term for term in counts if counts[term]), key=counts.__getitem__)
    if most is None:
        return rarest
    sums = [sum(counts[term] for term in rarest[: place + 1]) for place in range(len(rarest))]
    return rarest[: max(1, sum(total <= most for total in sums))]


def _quoted(term: str) -> str:
    return f'"{term}"'
