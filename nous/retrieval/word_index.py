"""Fuse rankings by weighted sum; full-text index in memory: BM25 over words and code names."""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from math import log
from typing import Generic, TypeVar

import regex
from tantivy import Document, Filter, Index, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from nous.knowledge.normalize import plain
from nous.text.language import words

Key = TypeVar("Key", bound=Hashable)


class Ranking(StrEnum):
    WORDS = "words"
    MEANING = "meaning"
    FILE = "file"


WEIGHTS: Mapping[Ranking, float] = {Ranking.WORDS: 0.6, Ranking.MEANING: 0.4, Ranking.FILE: 0.4}
"""Weight of the best item of each ranking; tuned on half the questions of tests/benchmarks/search.py."""

LEAST_COSINE = 0.30
"""Minimum cosine of a hit by meaning, measured there for all-MiniLM-L6-v2: other questions stay below."""

LEAST_SHARE = 0.30  # minimum fraction of the query's weight that a hit by words has


@dataclass(frozen=True, slots=True)
class RankedItem:
    """Score of an item in one ranking, 0 to 1, with evidence; `is_near` alone makes it a hit."""

    score: float
    detail: str
    is_near: bool = True


Rankings = Mapping[Ranking, Mapping[Key, RankedItem]]


def fused(rankings: Rankings[Key]) -> list[tuple[Key, float, tuple[str, ...]]]:
    """Return the items near in any of *rankings*, best first, by weighted sum of scores.

    Each comes with its score, and the name and evidence of each ranking that found it. Scores are fractions of the best
    in a ranking. That keeps what reciprocal rank fusion loses: by how much the first is better than the second.
    """
    scores: dict[Key, float] = {}
    reasons: dict[Key, list[str]] = {}
    for name, ranking in rankings.items():
        for key, found in ranking.items():
            scores[key] = scores.get(key, 0.0) + WEIGHTS[name] * found.score
            reasons.setdefault(key, []).append(f"{name}: {found.detail}")
    near = {key for ranking in rankings.values() for key, found in ranking.items() if found.is_near}
    joined = [(key, score, tuple(reasons[key])) for key, score in scores.items() if key in near]
    return sorted(joined, key=lambda each: -each[1])


def by_cosine(near: Sequence[tuple[Key, float]]) -> dict[Key, RankedItem]:
    best = max((cosine for _, cosine in near), default=1.0)
    return {key: RankedItem(cosine / best, f"{cosine:.2f}") for key, cosine in near}


_INNER = r"[^\s\x00-\x1f\ud800-\udfff\"`*,;()<>{}|\[\]]"
# A run between spaces, quotes and brackets, without punctuation around it: `src/ingest.rs`, `commit[:7]`.
_WHOLE = re.compile(rf"(?:--?|\.|~?/)?\w(?:{_INNER}{{0,200}}\w)?(?:\[{_INNER}{{0,40}}\])?[+#]*")
# A run of letters and digits, or one character of a script without spaces.
_PART = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W_\p{Han}\p{Hiragana}\p{Katakana}]+")
_HUMP = regex.compile(r"\p{Lu}?[\p{Ll}\d]+|\p{Lu}+(?!\p{Ll})")
_SLASH = re.compile(r"[/\\]+")

LONGEST = 100  # maximum characters of a term; the rest is cut off, since no word is that long
_REMEMBERED = 1 << 16


def terms(text: str) -> Iterator[str]:
    """Yield every term of *text*, with repetitions.

    A term with other signs than letters and digits ends in `=`. Without that mark `ingest.rs` would be stemmed like a
    word.
    """
    spelled = text if text.isascii() else plain(text)
    return chain.from_iterable(map(_terms_of, _WHOLE.findall(spelled.replace("'", ""))))


def asked_terms(query: str) -> tuple[str, ...]:
    """Return the different terms of *query*, in order, without stop words."""
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
    """Return the words that are joined in `LastInteractionTime`; none for a plain word."""
    found: list[str] = _HUMP.findall(word)
    return found if len(found) > 1 else []


MOST_TERMS = 256  # maximum terms of a query; further ones are ignored

# Bytes that an index may use while rows are added, the minimum that Tantivy accepts; released afterwards.
_HEAP = 15_000_000
_MORE = 8  # factor by which more texts are checked if too few of those checked are accepted

SOME_TERMS = 3  # unrelated texts seldom share so many meaningful words


@dataclass(frozen=True, slots=True)
class Match(Generic[Key]):
    """A text that has some of a query's terms, with its BM25 score.

    `share` is the fraction of the query's weight that these terms have, up to 1: a rare term weighs more, one that no
    text has weighs most.
    """

    key: Key
    score: float
    share: float
    terms: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The terms for display, without parts of longer ones."""
        names: list[str] = []
        for name in (term.removesuffix("=") for term in self.terms):
            if not any(name in each for each in names):
                names.append(name)
        return ", ".join(names)

    @property
    def is_near(self) -> bool:
        return self.share >= LEAST_SHARE or len(self.terms) >= SOME_TERMS


class WordIndex(Generic[Key]):
    """In-memory full-text index by key, for one thread at a time; inflections match."""

    def __init__(self) -> None:
        schema = SchemaBuilder().add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
        self._schema = schema.add_integer_field("row", fast=True).build()
        self._index = Index(self._schema)
        self._searcher = self._index.searcher()
        words = TextAnalyzerBuilder(Tokenizer.whitespace())
        self._stemmer = words.filter(Filter.ascii_fold()).filter(Filter.stemmer("english")).build()
        self._rows: dict[Key, str] = {}
        self._keys: list[Key] = []

    def extend(self, texts: Iterable[tuple[Key, str]]) -> None:
        """Add each text under its key; skip keys that are there already."""
        added: dict[Key, str] = {}
        for key, text in texts:
            if key not in self._rows and key not in added:
                added[key] = " ".join(self._stemmer.analyze(" ".join(terms(text))))
        if not added:
            return
        writer = self._index.writer(_HEAP, num_threads=1)
        for number, stems in enumerate(added.values(), start=len(self._keys)):
            document = Document()
            document.add_integer("row", number)
            document.add_text("stems", stems)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._rows |= added
        self._keys.extend(added)

    def search(self, query: str, limit: int, accepts: Callable[[Key], bool] = lambda _: True) -> list[Match[Key]]:
        """Return the *limit* texts that match plain words best, best first; none for stop words."""
        stems = {term: "".join(self._stemmer.analyze(term)) for term in asked_terms(query)[:MOST_TERMS]}
        counts = {term: self._searcher.doc_freq("stems", stem) for term, stem in stems.items()}
        weights = {term: log(1 + len(self._keys) / (0.5 + count)) for term, count in counts.items()}
        matches: list[Match[Key]] = []
        for key, score in self._best([*stems.values()], limit, accepts):
            there = set(self._rows[key].split(" "))
            shared = tuple(term for term, stem in stems.items() if stem in there)
            share = sum(map(weights.__getitem__, shared)) / sum(weights.values())
            matches.append(Match(key, score, share, shared))
        return matches

    def _best(self, stems: Sequence[str], limit: int, accepts: Callable[[Key], bool]) -> list[tuple[Key, float]]:
        found, looked_at = list[tuple[Key, float]](), min(limit, len(self._keys))
        while stems and looked_at:
            found = self._scored(stems, looked_at)
            accepted = [each for each in found if accepts(each[0])][:limit]
            if len(accepted) == limit or len(found) < looked_at or looked_at == len(self._keys):
                return accepted
            looked_at = min(_MORE * looked_at, len(self._keys))
        return found

    def _scored(self, stems: Sequence[str], limit: int) -> list[tuple[Key, float]]:
        query = Query.boolean_query([(Occur.Should, Query.term_query(self._schema, "stems", stem)) for stem in stems])
        hits = self._searcher.search(query, limit=limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        scores = [float(score) for score, _ in hits]
        found = [(int(row), score) for row, score in zip(rows, scores, strict=True) if row is not None]
        return [(self._keys[row], score) for row, score in sorted(found, key=lambda each: (-each[1], each[0]))]


def ranking(matches: Collection[Match[Key]]) -> dict[Key, RankedItem]:
    """Turn *matches* into a ranking, in which some are near by themselves.

    Half of the score is the share: BM25 alone gives no weight to words that half of a small index has.
    """
    best_share = max((match.share for match in matches), default=0.0) or 1.0
    best_score = max((match.score for match in matches), default=0.0) or 1.0
    return {
        match.key: RankedItem((match.share / best_share + match.score / best_score) / 2, match.shown, match.is_near)
        for match in matches
    }
