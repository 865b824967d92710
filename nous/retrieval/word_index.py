"""Full-text index: BM25 over stemmed words and over the parts of code names."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log
from typing import Generic, TypeVar

import regex
from tantivy import Document, Filter, Index, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from nous.knowledge.normalize import plain
from nous.retrieval.fusion import RankedItem
from nous.text.language import words

_HEAP = 15_000_000
"""Bytes that an index may use while rows are added, the minimum that Tantivy accepts; released afterwards."""


class Bm25:
    """In-memory BM25 index whose rows are numbered in the order they were added.

    Words match in other inflections and without accents.
    """

    def __init__(self) -> None:
        schema = SchemaBuilder().add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
        self._schema = schema.add_integer_field("row", fast=True).build()
        self._index = Index(self._schema)
        self._searcher = self._index.searcher()
        words = TextAnalyzerBuilder(Tokenizer.whitespace())
        self._stemmer = words.filter(Filter.ascii_fold()).filter(Filter.stemmer("english")).build()
        self._rows: list[str] = []

    def __len__(self) -> int:
        return len(self._rows)

    def stems(self, terms: str) -> list[str]:
        """Return the stem of each of *terms*, which spaces separate.

        A term that ends in a sign stays as it is.
        """
        return self._stemmer.analyze(terms)

    def add(self, rows: Collection[str]) -> None:
        """Add a row for the terms of each text."""
        if not rows:
            return
        writer = self._index.writer(_HEAP, num_threads=1)
        stemmed = [" ".join(self.stems(row)) for row in rows]
        for number, stems in enumerate(stemmed, start=len(self)):
            document = Document()
            document.add_integer("row", number)
            document.add_text("stems", stems)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._rows.extend(stemmed)

    def row(self, number: int) -> set[str]:
        """Return the stems of a row."""
        return set(self._rows[number].split(" "))

    def count(self, stem: str) -> int:
        """Return how many rows have *stem*."""
        return self._searcher.doc_freq("stems", stem)

    def best(self, stems: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return the *limit* rows that have any of *stems*, best first, with their BM25 scores."""
        query = Query.boolean_query([(Occur.Should, Query.term_query(self._schema, "stems", stem)) for stem in stems])
        hits = self._searcher.search(query, limit=limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        scores = [float(score) for score, _ in hits]
        found = [(int(row), score) for row, score in zip(rows, scores, strict=True) if row is not None]
        return sorted(found, key=lambda each: (-each[1], each[0]))


_INNER = r"[^\s\x00-\x1f\ud800-\udfff\"`*,;()<>{}|\[\]]"
_WHOLE = re.compile(rf"(?:--?|\.|~?/)?\w(?:{_INNER}{{0,200}}\w)?(?:\[{_INNER}{{0,40}}\])?[+#]*")
"""A run between spaces, quotes and brackets, without punctuation around it: `src/ingest.rs`, `commit[:7]`."""

_PART = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W_\p{Han}\p{Hiragana}\p{Katakana}]+")
"""A run of letters and digits, or one character of a script without spaces."""

_HUMP = regex.compile(r"\p{Lu}?[\p{Ll}\d]+|\p{Lu}+(?!\p{Ll})")
_SLASH = re.compile(r"[/\\]+")

LONGEST = 100
"""Maximum characters of a term; the rest is cut off, since no word is that long."""

_REMEMBERED = 1 << 16


def terms(text: str) -> Iterator[str]:
    """Yield every term of *text*, with repetitions.

    A term with other signs than letters and digits ends in `=`. Without that mark `ingest.rs` would be stemmed like a
    word.
    """
    return chain.from_iterable(term_groups(text))


def term_groups(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the terms of each word and name of *text*: first the whole, then its parts."""
    spelled = text if text.isascii() else plain(text)
    return map(_terms_of, _WHOLE.findall(spelled.replace("'", "")))


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


Key = TypeVar("Key")

MOST_TERMS = 256
"""Maximum terms of a query; further ones are ignored."""

_MORE = 8
"""Factor by which more texts are checked if too few of those checked are accepted."""

SOME_TERMS = 3
"""Unrelated texts seldom share so many meaningful words."""


@dataclass(frozen=True, slots=True)
class Match(Generic[Key]):
    """A text that has some of a query's terms, with its BM25 score.

    `share` is the fraction of the query's weight that these terms have, up to 1: a rare term weighs more, one that no
    text has weighs most. `shown` has the terms for display, without parts of those that match whole.
    """

    key: Key
    score: float
    share: float
    terms: tuple[str, ...]
    shown: str

    def is_near(self, share: float) -> bool:
        """Return whether it has this *share* of the query's weight, or `SOME_TERMS` terms of it."""
        return self.share >= share or len(self.terms) >= SOME_TERMS


class WordIndex(Generic[Key]):
    """In-memory full-text index by key. Threads may share it, one at a time."""

    def __init__(self) -> None:
        self._rows = Bm25()
        self._keys: list[Key] = []
        self._known: set[Key] = set()

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __len__(self) -> int:
        return len(self._keys)

    def extend(self, texts: Iterable[tuple[Key, str]]) -> None:
        """Add each text under its key; skip keys that are there already."""
        added: dict[Key, str] = {}
        for key, text in texts:
            if key not in self._known and key not in added:
                added[key] = " ".join(terms(text))
        self._rows.add(added.values())
        self._keys.extend(added)
        self._known.update(added)

    def search(self, query: str, limit: int, accepts: Callable[[Key], bool] = lambda _: True) -> list[Match[Key]]:
        """Return the *limit* texts with accepted keys that match *query* best, best first.

        A query is plain words; signs in it have no special meaning. A query of stop words alone finds nothing.
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
        """Return the *limit* best accepted rows, and their scores."""
        found, looked_at = list[tuple[int, float]](), min(limit, len(self))
        while stems and looked_at:
            found = self._rows.best(stems, looked_at)
            accepted = [each for each in found if accepts(self._keys[each[0]])][:limit]
            if len(accepted) == limit or len(found) < looked_at or looked_at == len(self):
                return accepted
            looked_at = min(_MORE * looked_at, len(self))
        return found


def _shown(groups: Iterable[Sequence[str]], found: Collection[str]) -> str:
    """Join the terms that were *found*, without parts of a longer one of their group."""
    shown: dict[str, None] = {}
    for group in groups:
        longer: list[str] = []
        for term in group:
            name = term.removesuffix("=")
            if term in found and not any(name in each for each in longer):
                longer.append(name)
        shown |= dict.fromkeys(longer)
    return ", ".join(shown)


def ranking(matches: Collection[Match[Key]], share: float) -> dict[Key, RankedItem]:
    """Turn *matches* into a ranking, in which those with that *share* of the query are near.

    Half of the score is the share: BM25 alone gives no weight to words that half of a small index has.
    """
    best_share = max((match.share for match in matches), default=0.0) or 1.0
    best_score = max((match.score for match in matches), default=0.0) or 1.0
    return {
        match.key: RankedItem(
            (match.share / best_share + match.score / best_score) / 2, match.shown, match.is_near(share)
        )
        for match in matches
    }
