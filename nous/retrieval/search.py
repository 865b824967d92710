"""Hybrid search of a scope's facts and episodes: by words, by meaning and by file."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.knowledge.fact_index import FactIndex
from nous.retrieval.corpus import Corpus
from nous.retrieval.fusion import Ranking, fused
from nous.retrieval.query import Hit, HitKind, Query, earlier_values

POOL = 100
"""Maximum items that each ranking finds, unless more are requested."""

OUTDATED = 0.3
"""Factor on the score of a superseded fact."""


def search(
    query: Query,
    corpus: Corpus,
    *,
    limit: int = 10,
    everything: bool = False,
) -> tuple[Hit, ...]:
    """Return the *limit* best hits for *query*, best first; none if nothing is near it.

    Rankings are fused, so that `port 8080` is found by its digits, `how do we deploy` by its meaning and
    `src/ingest.rs` by the sessions that touched it. A superseded fact ranks far down. It is left out if its successor
    is found too, unless *everything* is requested.
    """
    pool = max(POOL, limit)
    rankings = {
        Ranking.WORDS: corpus.by_words(query, limit=pool),
        Ranking.MEANING: corpus.by_meaning(query, limit=pool),
        Ranking.FILE: corpus.by_file(query, limit=pool),
    }
    found = ((each, corpus.hit(each.key)) for each in fused(rankings))
    hits = [replace(hit, score=each.score, found_by=each.found_by) for each, hit in found if hit]
    knowledge = corpus.scope_index.knowledge
    ranked = sorted(_in_time(hits, knowledge, everything=everything), key=lambda hit: (-hit.score, hit.id))[:limit]
    return tuple(
        replace(hit, earlier=earlier_values(hit.id, knowledge)) if hit.kind is HitKind.FACT else hit for hit in ranked
    )


def _in_time(hits: Iterable[Hit], knowledge: FactIndex, *, everything: bool) -> Iterator[Hit]:
    """Yield *hits*, with superseded facts further down or left out."""
    hits = list(hits)
    there = {hit.id for hit in hits}
    for hit in hits:
        if hit.superseded_by is None:
            yield hit
        elif everything or there.isdisjoint(each.fact.id for each in knowledge.successors(hit.superseded_by)):
            yield replace(hit, score=hit.score * OUTDATED)
