"""Finding what a scope knows: by words, by meaning, and by the files it is about."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from nous.facts.fact_index import Knowledge
from nous.search.corpus import Library
from nous.search.fusion import WEIGHTS, Way, fused
from nous.search.query import Hit, Query, Remembrance, earlier_values

POOL = 100
"""How many words and meaning each find at most, unless more are asked for."""

OUTDATED = 0.3
"""What is left of the score of a fact that something has superseded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What is near enough to be a hit: by meaning from this *cosine*, by words from this *share* of the query's.

    Measured by tests/benchmarks/search.py, the first for all-MiniLM-L6-v2: questions about other things stay below.
    """

    cosine: float = 0.30
    share: float = 0.30


THRESHOLDS: Final = Thresholds()


def search(
    query: Query,
    library: Library,
    *,
    limit: int = 10,
    thresholds: Thresholds = THRESHOLDS,
    weights: Mapping[Way, float] = WEIGHTS,
    everything: bool = False,
) -> tuple[Hit, ...]:
    """The *limit* things that answer *query* best, best first, and none where nothing is near it.

    The rankings are joined, so that `port 8080` is found by its digits, `how do we deploy` by its sense and
    `src/ingest.rs` by whoever touched it. A superseded fact comes far down, and not at all where what superseded it is
    found too, unless *everything* is asked for.
    """
    pool = max(POOL, limit)
    rankings = {
        Way.WORDS: library.by_words(query, share=thresholds.share, limit=pool),
        Way.MEANING: library.by_meaning(query, cosine=thresholds.cosine, limit=pool),
        Way.FILE: library.by_file(query, limit=pool),
    }
    found = ((each, library.hit(each.key)) for each in fused(rankings, weights))
    hits = [replace(hit, score=each.score, found_by=each.found_by) for each, hit in found if hit]
    knowledge = library.shelf.knowledge
    ranked = sorted(_in_time(hits, knowledge, everything=everything), key=lambda hit: (-hit.score, hit.id))[:limit]
    return tuple(
        replace(hit, earlier=earlier_values(hit.id, knowledge)) if hit.kind is Remembrance.FACT else hit
        for hit in ranked
    )


def _in_time(hits: Iterable[Hit], knowledge: Knowledge, *, everything: bool) -> Iterator[Hit]:
    """*hits* with superseded facts further down, or gone."""
    hits = list(hits)
    there = {hit.id for hit in hits}
    for hit in hits:
        if hit.superseded_by is None:
            yield hit
        elif everything or there.isdisjoint(each.fact.id for each in knowledge.successors(hit.superseded_by)):
            yield replace(hit, score=hit.score * OUTDATED)
