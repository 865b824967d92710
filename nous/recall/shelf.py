"""What a scope knows, and the words to find it by."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from nous.episode import Episode
from nous.fact import Confirmed, Fact, Learned, Row
from nous.learning.known import Knowledge
from nous.recall.words import WordIndex

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
