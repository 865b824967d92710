"""Finding what a scope knows, by meaning and by words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from nous.episode import Episode
from nous.learning.known import Knowledge, KnownFact
from nous.recall.words import word_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""`Embedder.embed`."""

RANK_CONSTANT = 60
"""How little the first places differ when two rankings are joined.

Cormack et al., Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009.
"""

LEAST_COSINE = 0.25
"""Below it a text has nothing to do with the query, and is not a hit by meaning."""


class Remembrance(StrEnum):
    FACT = "fact"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something remembered, and where it is from.

    `date` is when it was learned or ended, `event_date` when what it tells of happened, where that is known.
    """

    kind: Remembrance
    id: UUID
    text: str
    date: datetime
    event_date: str | None
    episode_id: UUID
    session_id: str
    turns: tuple[int, ...]
    score: float = 0.0


def search(
    query: str, *, knowledge: Knowledge, episodes: Sequence[Episode], embed: Embed, limit: int = 10
) -> tuple[Hit, ...]:
    """The *limit* current facts and *episodes* that answer *query* best, best first.

    Two rankings are joined, one by cosine and one by shared words, so that `port 8080` is found by its digits and `how
    do we deploy` by its sense. Superseded facts are left out.

    Raises:
        Unavailable: the embedder did not answer.
    """
    hits = (*map(_of_fact, knowledge.current()), *map(_of_episode, episodes))
    words = word_scores(query, [hit.text for hit in hits])
    by_words = {hit.id: score for hit, score in zip(hits, words, strict=True) if score > 0}
    by_meaning = _by_meaning(query, knowledge, [hit for hit in hits if hit.kind is Remembrance.EPISODE], embed)
    scores = _fused(by_meaning, by_words)
    found = (replace(hit, score=scores[hit.id]) for hit in hits if hit.id in scores)
    return tuple(sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit])


def _by_meaning(query: str, knowledge: Knowledge, episodes: Sequence[Hit], embed: Embed) -> dict[UUID, float]:
    """The cosine of every hit that is near the query. Facts have their vectors already."""
    asked, *others = embed([query, *(hit.text for hit in episodes)])
    near = {fact.fact_id: fact.similarity for fact in knowledge.near(asked, LEAST_COSINE)}
    cosines = {hit.id: float(asked @ vector) for hit, vector in zip(episodes, others, strict=True)}
    return near | {hit_id: cosine for hit_id, cosine in cosines.items() if cosine >= LEAST_COSINE}


def _fused(*rankings: Mapping[UUID, float]) -> dict[UUID, float]:
    """For everything that any ranking holds, the sum of 1 / (constant + its place) over the rankings."""
    scores: dict[UUID, float] = {}
    for ranking in rankings:
        for hit_id, place in _places(ranking):
            scores[hit_id] = scores.get(hit_id, 0.0) + 1 / (RANK_CONSTANT + place)
    return scores


def _places(ranking: Mapping[UUID, float]) -> Iterator[tuple[UUID, int]]:
    """Each with its place from 1; equals share one, so that order of arrival decides nothing."""
    scores = sorted(ranking.values(), reverse=True)
    first = {score: place for place, score in reversed(tuple(enumerate(scores, start=1)))}
    return ((hit_id, first[score]) for hit_id, score in ranking.items())


def _of_fact(known: KnownFact) -> Hit:
    fact = known.fact
    return Hit(
        kind=Remembrance.FACT,
        id=fact.id,
        text=fact.text,
        date=fact.learned_at,
        event_date=fact.event_date,
        episode_id=fact.source.episode_id,
        session_id=fact.source.session_id,
        turns=fact.source.turns,
    )


def _of_episode(episode: Episode) -> Hit:
    summary = episode.summary
    return Hit(
        kind=Remembrance.EPISODE,
        id=episode.id,
        text=" ".join((f"{summary.title}.", summary.summary, *summary.key_points)),
        date=episode.ended_at,
        event_date=None,
        episode_id=episode.id,
        session_id=episode.session_id,
        turns=(),
    )
