"""What is searched, and the three ways to find something in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import Episode
from nous.domain.fact import Confirmed, Fact, Learned, Row
from nous.facts.fact_index import Knowledge
from nous.search.fusion import Found, by_cosine
from nous.search.query import Filters, Hit, Query, files_named, hit_of, touched
from nous.search.word_index import Match, WordIndex, ranking

if TYPE_CHECKING:
    from nous.search.query import Vector


Place = tuple[UUID, str]
"""The id of something remembered; of an episode also the state, as each edition has words of its own."""


def place_of(remembered: Fact | Episode) -> Place:
    return remembered.id, "" if isinstance(remembered, Fact) else remembered.state


class Shelf:
    """A scope's knowledge with an index of its words, which is made when it is first asked for.

    Whoever extends the knowledge tells of the rows with `take`; they are indexed at the next search. Like the
    knowledge, it is not safe to share between threads.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._words: WordIndex[Place] = WordIndex()
        self._facts = [known.fact for known in knowledge]
        self._sources = [(known.fact.id, source) for known in knowledge for source in known.sources]
        self._by_episode: dict[UUID, dict[UUID, None]] = {}

    def take(self, rows: Iterable[Row]) -> None:
        """Take in what the knowledge has learned since."""
        for row in rows:
            match row:
                case Learned(fact=fact):
                    self._facts.append(fact)
                    self._sources.append((fact.id, fact.source))
                case Confirmed():
                    self._sources.append((row.fact_id, row.source))
                case _:
                    pass

    def words(self, episodes: Sequence[Episode] = ()) -> WordIndex[Place]:
        """The index of every fact, and of these *episodes* among others."""
        facts, self._facts = self._facts, []
        self._words.extend((place_of(fact), fact.text) for fact in facts)
        self._words.extend((place_of(episode), episode.summary.text) for episode in episodes)
        return self._words

    def said_in(self, episode_ids: Iterable[UUID]) -> Iterator[tuple[UUID, UUID]]:
        """The facts that these episodes said, each with its episode."""
        sources, self._sources = self._sources, []
        for fact_id, source in sources:
            self._by_episode.setdefault(source.episode_id, {})[fact_id] = None
        return ((fact_id, episode_id) for episode_id in episode_ids for fact_id in self._by_episode.get(episode_id, ()))


_TOUCHED, _NAMING, _BESIDE = 1.0, 0.25, 0.1
"""What a file is worth: to a session that touched it, to a text that names it, which words find as well, and to what
else such a session said."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """The facts of a scope, some of its episodes, the vectors of those that have one, and what of this may be found.

    It is made for one search: what it finds is as it was then.
    """

    shelf: Shelf
    episodes: Sequence[Episode] = ()
    vectors: "Mapping[UUID, Vector]" = field(default_factory=dict[UUID, "Vector"])
    only: Filters = field(default_factory=Filters)

    @cached_property
    def _episodes(self) -> Mapping[Place, Episode]:
        return {place_of(episode): episode for episode in self.episodes}

    @cached_property
    def _hits(self) -> dict[Place, Hit | None]:
        """What was looked at so far."""
        return {}

    def hit(self, place: Place) -> Hit | None:
        """What stands there, if it may be found."""
        if place not in self._hits:
            remembered = self._episodes.get(place) if place[1] else self.shelf.knowledge.get(place[0])
            hit = hit_of(remembered) if remembered else None
            self._hits[place] = hit if hit and self.only.accepts(hit) else None
        return self._hits[place]

    def by_words(self, query: Query, *, share: float, limit: int) -> dict[Place, Found]:
        """What has any of the query's words; from this *share* of them it is near."""
        return ranking(self._matches(query.text, limit), share)

    def by_meaning(self, query: Query, *, cosine: float, limit: int) -> dict[Place, Found]:
        """What has at least this *cosine* with the query."""
        if query.vector is None:
            return {}
        facts = [((near.fact_id, ""), near.similarity) for near in self.shelf.knowledge.near(query.vector, cosine)]
        vectors = [(place, self.vectors.get(place[0])) for place in self._episodes]
        episodes = [(place, float(query.vector @ vector)) for place, vector in vectors if vector is not None]
        nearest = sorted((*facts, *episodes), key=lambda near: -near[1])
        found = (each for each in nearest if each[1] >= cosine and self.hit(each[0]))
        return by_cosine([*islice(found, limit)])

    def by_file(self, query: Query, *, limit: int) -> dict[Place, Found]:
        """What names a file that the query names, the sessions that touched it, and what else these said."""
        if not query.files:
            return {}
        sessions = {
            place: files[0]
            for place, episode in self._episodes.items()
            if (files := touched(query.files, episode.files_touched))
        }
        of_episode = {episode_id: file for (episode_id, _), file in sessions.items()}
        beside = {(fact_id, ""): of_episode[episode] for fact_id, episode in self.shelf.said_in(of_episode)}
        found = {
            **{place: Found(_BESIDE, file) for place, file in beside.items()},
            **{place: Found(_NAMING, file) for place, file in self._naming(query, limit)},
            **{place: Found(_TOUCHED, file) for place, file in sessions.items()},
        }
        return {place: each for place, each in found.items() if self.hit(place)}

    def _naming(self, query: Query, limit: int) -> Iterator[tuple[Place, str]]:
        """Texts that name a file of the query's, with its name there."""
        for path in query.files:
            for match in self._matches("/".join(path), limit):
                hit = self.hit(match.key)
                # Seldom so, and cheaper to see than to read the text for files.
                if hit and path[-1] in hit.text.casefold():
                    yield from ((match.key, file) for file in touched([path], map("/".join, files_named(hit.text)))[:1])

    def _matches(self, text: str, limit: int) -> list[Match[Place]]:
        return self.shelf.words(self.episodes).search(text, limit, lambda place: self.hit(place) is not None)
