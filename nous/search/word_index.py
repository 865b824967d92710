"""Finding texts by the words they share with a query."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log
from typing import Generic, TypeVar

import regex
from tantivy import Document, Filter, Index, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from nous.facts.normalize import plain
from nous.search.fusion import Found
from nous.text.language import words

_HEAP = 15_000_000
"""Bytes that an index may take while rows are added, the least that Tantivy accepts; they are given back after."""


class Bm25:
    """Rows in memory, numbered in the order they were added. Words are found in other forms, and without accents."""

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
        """The stem of each of *terms*, which spaces separate. One that ends in a sign stays as it is."""
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
        """The stems of a row."""
        return set(self._rows[number].split(" "))

    def count(self, stem: str) -> int:
        """How many rows have *stem*."""
        return self._searcher.doc_freq("stems", stem)

    def best(self, stems: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The *limit* rows that have any of *stems*, best first, and the BM25 of each."""
        query = Query.boolean_query([(Occur.Should, Query.term_query(self._schema, "stems", stem)) for stem in stems])
        hits = self._searcher.search(query, limit=limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        scores = [float(score) for score, _ in hits]
        found = [(int(row), score) for row, score in zip(rows, scores, strict=True) if row is not None]
        return sorted(found, key=lambda each: (-each[1], each[0]))


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
