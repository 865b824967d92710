"""Learning while the embedder is out, or after it was changed, and what is made good later."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from builders.contexts import context_over
from builders.episodes import HOME, episode
from builders.events import event_of
from builders.moody import Moody
from builders.stores import WholeStore

from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact
from nous.domain.errors import Deferred
from nous.domain.events import Event, FactConfirmed, FactLearned, FactsUnembedded, FactSuperseded
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.verdict import Policy
from nous.pipeline.worker import WorkerContext
from nous.store.fact_cache import FactCache
from nous.summary.decisions import announcement
from workers import fact_embedder, fact_extractor

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Scene:
    """The two workers over a store."""

    def __init__(self, embedder: HashingEmbedder, memory: FactCache | None = None) -> None:
        self.store = WholeStore()
        self.use(embedder, memory)

    def use(self, embedder: HashingEmbedder, memory: FactCache | None = None) -> None:
        """From now on, workers have this embedder."""
        self.context: WorkerContext = context_over(
            self.store, embedder=embedder, clock=lambda: AT, policy=Policy(near=0.5), fact_cache=memory or FactCache()
        )

    def learn(self, *texts: str, session: str = "s1") -> Sequence[Event]:
        summarized = announcement(episode(session, scope=HOME), cause=_waiting(session), by="episode-summarizer", at=AT)
        event = replace(summarized, candidate_facts=tuple(CandidateFact(text=text) for text in texts))
        return self._done(fact_extractor.WORKER.handler_factory(self.context)(event))

    def repair(self) -> Sequence[Event]:
        """What follows from facts that wait, step by step to the end."""
        event, told = _waiting(), list[Event]()
        while True:
            events = self._done(fact_embedder.WORKER.handler_factory(self.context)(event))
            told.extend(events)
            more = [each for each in events if isinstance(each, FactsUnembedded)]
            if not more:
                return told
            event = more[0]

    def _texts(self, of: Callable[[FactIndex], Iterable[KnownFact]]) -> list[str]:
        with self.context.fact_cache.current(self.context.facts, HOME, self.context.embedder) as knowledge:
            return [known.fact.text for known in of(knowledge)]

    def current(self) -> list[str]:
        return self._texts(FactIndex.current)

    def waiting(self) -> list[str]:
        return self._texts(FactIndex.without_vector)

    def _done(self, effects: Effects) -> Sequence[Event]:
        assert self.store.apply(effects.writes) is None
        return effects.events


def _waiting(session: str = "s") -> FactsUnembedded:
    return event_of(FactsUnembedded, f"waiting {session}", scope=HOME, session_id=session)


def test_while_the_embedder_is_out_facts_are_kept_and_equal_texts_are_known() -> None:
    embedder = Moody()
    scene = Scene(embedder)
    scene.learn("The API is on port 8080")
    embedder.is_out = True

    events = scene.learn("the API is on port 8080.", "The API's on port 8080", session="s2")

    assert [type(event) for event in events] == [FactConfirmed, FactLearned, FactsUnembedded]
    assert scene.waiting() == ["The API's on port 8080"]


def test_when_it_is_back_what_waited_is_compared_and_goes_into_what_it_repeats() -> None:
    embedder = Moody()
    scene = Scene(embedder)
    scene.learn("The API is on port 8080")
    embedder.is_out = True
    scene.learn("The API's on port 8080", "Tim likes tea", session="s2")
    with pytest.raises(Deferred):
        scene.repair()
    embedder.is_out = False

    events = scene.repair()

    assert [type(event) for event in events] == [FactSuperseded]
    assert scene.current() == ["The API is on port 8080", "Tim likes tea"]
    assert scene.waiting() == []
    assert scene.repair() == []


def test_another_embedder_gets_vectors_of_its_own_and_the_first_keeps_its() -> None:
    first, second = Moody(), Moody(dim=128)
    scene = Scene(first)
    scene.learn(*(f"Ticket ABC-{number} is about topic {number}" for number in range(200)), session="many")
    scene.use(second)
    assert len(scene.waiting()) == 50

    events = scene.learn("Tim likes tea", session="s2")
    assert isinstance(events[-1], FactsUnembedded)
    scene.repair()

    assert scene.waiting() == []
    scene.use(first)
    assert scene.waiting() == ["Tim likes tea"]


def test_one_text_that_the_embedder_refuses_costs_the_others_nothing() -> None:
    scene = Scene(Moody(refuses="poison"))

    events = scene.learn("Tim likes tea", "The poison is in the cellar", "The API is on port 8080")

    assert sum(isinstance(event, FactLearned) for event in events) == 3
    assert scene.waiting() == ["The poison is in the cellar"]
    assert scene.repair() == []
