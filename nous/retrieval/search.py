"""Hybrid search of a scope's facts and episodes: fuse rankings by words, meaning and file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import Episode
from nous.domain.fact import Fact, Learned, Row
from nous.knowledge.fact_index import FactIndex
from nous.retrieval.query import Filters, Hit, HitKind, Query, episode_hit, hit_of, touched
from nous.retrieval.word_index import LEAST_COSINE, RankedItem, Ranking, WordIndex, by_cosine, fused, ranking

if TYPE_CHECKING:
    from nous.retrieval.query import Vector


Place = tuple[UUID, str]
"""Key of a fact or an episode. For an episode it includes the state, since each edition has words of its own."""


def place_of(remembered: Fact | Episode) -> Place:
    return remembered.id, "" if isinstance(remembered, Fact) else remembered.state


class ScopeIndex:
    """A scope's fact index with a full-text index, which is built on first use.

    Pass the rows to `take` after extending the fact index; they are indexed at the next search. Like the fact index, it
    is not thread-safe.
    """

    def __init__(self, knowledge: FactIndex) -> None:
        self.knowledge = knowledge
        self._words: WordIndex[Place] = WordIndex()
        self._facts = [known.fact for known in knowledge]

    def take(self, rows: Iterable[Row]) -> None:
        self._facts += [row.fact for row in rows if isinstance(row, Learned)]

    def words(self, episodes: Sequence[Episode] = ()) -> WordIndex[Place]:
        """Return the full-text index of all facts, these *episodes*, and episodes added before."""
        facts, self._facts = self._facts, []
        texts = ((place_of(fact), fact.text) for fact in facts)
        self._words.extend(chain(texts, ((place_of(episode), episode.summary.text) for episode in episodes)))
        return self._words


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Facts of a scope, some of its episodes, their vectors, and filters; for one search."""

    scope_index: ScopeIndex
    episodes: Sequence[Episode] = ()
    vectors: "Mapping[UUID, Vector]" = field(default_factory=dict[UUID, "Vector"])
    only: Filters = field(default_factory=Filters)
    _hits: dict[Place, Hit | None] = field(init=False, default_factory=dict[Place, Hit | None])

    @cached_property
    def _episodes(self) -> Mapping[Place, Episode]:
        return {place_of(episode): episode for episode in self.episodes}

    def hit(self, place: Place) -> Hit | None:
        """Return the fact or episode as a hit; None if it is missing or filtered out."""
        if place not in self._hits:
            episode = self._episodes.get(place)
            known = None if place[1] else self.scope_index.knowledge.get(place[0])
            hit = episode_hit(episode) if episode else known and hit_of(known)
            self._hits[place] = hit if hit and self.only.accepts(hit) else None
        return self._hits[place]

    def by_words(self, query: Query, *, limit: int) -> dict[Place, RankedItem]:
        index = self.scope_index.words(self.episodes)
        return ranking(index.search(query.text, limit, lambda place: self.hit(place) is not None))

    def by_meaning(self, query: Query, *, limit: int) -> dict[Place, RankedItem]:
        if query.vector is None:
            return {}
        facts = [
            ((near.fact_id, ""), near.similarity)
            for near in self.scope_index.knowledge.near(query.vector, LEAST_COSINE)
        ]
        vectors = [(place, self.vectors.get(place[0])) for place in self._episodes]
        episodes = [(place, float(query.vector @ vector)) for place, vector in vectors if vector is not None]
        nearest = sorted((*facts, *episodes), key=lambda near: -near[1])
        found = (each for each in nearest if each[1] >= LEAST_COSINE and self.hit(each[0]))
        return by_cosine([*islice(found, limit)])

    def by_file(self, query: Query) -> dict[Place, RankedItem]:
        if not query.files:
            return {}
        return {
            place: RankedItem(1.0, files[0])
            for place, episode in self._episodes.items()
            if (files := touched(query.files, episode.files_touched)) and self.hit(place)
        }


POOL = 100
"""Maximum items that each ranking finds, unless more are requested."""

OUTDATED = 0.3
"""Factor on the score of a superseded fact."""


def search(query: Query, corpus: Corpus, *, limit: int = 10, everything: bool = False) -> tuple[Hit, ...]:
    """Return the *limit* best hits for *query*, best first; none if nothing is near it.

    Rankings are fused, so that `port 8080` is found by its digits, `how do we deploy` by its meaning and
    `src/ingest.rs` by the sessions that touched it. A superseded fact ranks far down. It is left out if its successor
    is found too, unless *everything* is requested.
    """
    pool = max(POOL, limit)
    rankings = {
        Ranking.WORDS: corpus.by_words(query, limit=pool),
        Ranking.MEANING: corpus.by_meaning(query, limit=pool),
        Ranking.FILE: corpus.by_file(query),
    }
    found = ((corpus.hit(key), score, found_by) for key, score, found_by in fused(rankings))
    hits = [replace(hit, score=score, found_by=found_by) for hit, score, found_by in found if hit]
    knowledge = corpus.scope_index.knowledge
    ranked = sorted(_in_time(hits, knowledge, everything=everything), key=_order)[:limit]
    return tuple(replace(hit, earlier=knowledge.earlier(hit.id)) if hit.kind is HitKind.FACT else hit for hit in ranked)


def _order(hit: Hit) -> tuple[float, bool, UUID]:
    """Sort by score; of equal ones, what only a tool or a page said comes last."""
    return -round(hit.score, 6), hit.trust.is_doubted, hit.id


def _in_time(hits: Iterable[Hit], knowledge: FactIndex, *, everything: bool) -> Iterator[Hit]:
    hits = list(hits)
    there = {hit.id for hit in hits}
    for hit in hits:
        if hit.superseded_by is None:
            yield hit
        elif everything or there.isdisjoint(each.fact.id for each in knowledge.successors(hit.superseded_by)):
            yield replace(hit, score=hit.score * OUTDATED)
