"""Vectors for episodes that came, or had to do, without one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import UUID

import pytest
from builders.contexts import context_over
from builders.episodes import HOME, episode
from builders.events import event_of
from builders.moody import Moody
from builders.stores import WholeStore
from structlog.testing import capture_logs

from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact, Episode
from nous.domain.errors import Deferred, Misconfigured
from nous.domain.events import EpisodesUnembedded, SessionEnded
from nous.domain.scope import Scope
from nous.knowledge.decision import unembedded
from nous.pipeline.worker import WorkerContext
from nous.summary.decisions import announcement
from workers.episode_embedder import NOTHING_WAITS, WORKER
from workers.fact_extractor import WORKER as EXTRACTOR

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Scene:
    """The worker over a store."""

    def __init__(self, embedder: Moody) -> None:
        self.store = WholeStore()
        self.use(embedder)

    def use(self, embedder: Moody) -> None:
        """From now on, workers have this embedder."""
        self.embedder = embedder
        self.context: WorkerContext = context_over(self.store, embedder=embedder, clock=lambda: AT)

    def save(self, *sessions: str, **more: str) -> list[Episode]:
        saved = [titled(episode(session), more.get("title", f"About {session}")) for session in sessions]
        for each in saved:
            assert self.store.apply([SaveEpisode(episode=each)]) is None
        return saved

    def replace(self, old: Episode, title: str) -> Episode:
        new = replace(titled(old, title), edition=old.edition + 1)
        assert self.store.apply([SaveEpisode(episode=new, replaces=old)]) is None
        return new

    def summarized(self, of: Episode, *facts: str) -> Effects:
        """What follows from it being told that *of* was made."""
        said = announcement(of, cause=ended(of), by="episode-summarizer", at=AT)
        event = replace(said, candidate_facts=tuple(CandidateFact(text=text) for text in facts))
        return self.done(EXTRACTOR.handler_factory(self.context)(event))

    def steps(self, event: Any = None) -> Iterator[Effects]:
        """What follows from episodes that wait, to the end."""
        following: Sequence[Any] = [event or unembedded(EpisodesUnembedded, HOME, state="now", at=AT)]
        while following:
            [event] = following
            effects = self.done(WORKER.handler_factory(self.context)(event))
            yield effects
            following = effects.events

    def done(self, effects: Effects) -> Effects:
        assert self.store.apply(effects.writes) is None
        return effects

    def waiting(self) -> Sequence[UUID]:
        return self.store.without_vector(HOME, embedder=self.embedder.id)

    def is_of(self, vector_of: Episode) -> bool:
        """Whether the vector that is kept is the one of what this episode says."""
        found = self.store.episode_vectors(HOME, [vector_of.id], embedder=self.embedder.id)[vector_of.id]
        return bool((found == self.embedder.embed([vector_of.summary.text])[0]).all())


def titled(of: Episode, title: str) -> Episode:
    return replace(of, summary=replace(of.summary, title=title))


def ended(of: Episode) -> SessionEnded:
    return event_of(SessionEnded, str(of.event_id), time=AT, scope=HOME, session_id=of.session_id)


def test_an_embedder_that_is_out_costs_an_episode_no_word_and_its_vector_is_made_when_it_is_back() -> None:
    scene = Scene(Moody())
    [saved] = scene.save("s1")
    scene.embedder.is_out = True

    effects = scene.summarized(saved, "Tim likes tea")

    [waits] = [each for each in effects.events if isinstance(each, EpisodesUnembedded)]
    assert scene.store.get(HOME, saved.id) == saved
    assert list(scene.waiting()) == [saved.id]
    with pytest.raises(Deferred):
        list(scene.steps(waits))
    scene.embedder.is_out = False
    list(scene.steps(waits))
    assert not scene.waiting()
    assert scene.is_of(saved)


def test_many_episodes_are_embedded_some_at_a_time_and_doing_it_again_changes_nothing() -> None:
    scene = Scene(Moody())
    scene.save(*(f"s{number}" for number in range(100)))

    steps = list(scene.steps())
    again = list(scene.steps())

    assert [len(each.writes) for each in steps] == [32, 32, 32, 4]
    assert not scene.waiting()
    assert [(each.writes, each.events, each.skipped) for each in again] == [((), (), NOTHING_WAITS)]


def test_episodes_that_cannot_be_read_keep_no_others_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(Moody())
    odd = {each.id for each in scene.save(*(f"p{number}" for number in range(40)))}
    good = scene.save(*(f"s{number}" for number in range(40)))
    get = scene.store.get

    def read(scope: Scope, episode_id: UUID) -> Episode | None:
        if episode_id in odd:
            raise Misconfigured("the store holds no Episode that this release can read")
        return get(scope, episode_id)

    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(scene.store, "get", read)
        steps = list(islice(scene.steps(), 20))

    assert set(scene.waiting()) == odd
    assert all(scene.is_of(each) for each in good)
    assert steps[-1].skipped == NOTHING_WAITS
    assert {UUID(line["id"]) for line in logs} == odd


def test_an_episode_that_changes_while_it_is_embedded_is_embedded_as_it_is_then() -> None:
    scene = Scene(Moody())
    [saved] = scene.save("s1")
    event = unembedded(EpisodesUnembedded, HOME, state="now", at=AT)
    stale = WORKER.handler_factory(scene.context)(event)
    newer = scene.replace(saved, "Another title")

    assert scene.store.apply(stale.writes) is not None
    list(scene.steps(event))

    assert scene.is_of(newer)
