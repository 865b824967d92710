"""In-memory full-text index: BM25 over stemmed words and over the parts of code names."""

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
from nous.retrieval.fusion import LEAST_SHARE, RankedItem
from nous.text.language import words

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


Key = TypeVar("Key")

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
