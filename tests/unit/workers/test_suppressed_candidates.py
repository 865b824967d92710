"""A session that goes on does not bring back the facts that were forgotten of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from builders.answers import GOOD, SESSION
from builders.model_world import ModelWorld

from nous.domain.effects import Effects, SaveEpisode
from nous.domain.events import EpisodeSummarized
from nous.domain.scope import Scope
from nous.knowledge.normalize import exact_form
from nous.pipeline.worker import WorkerContext
from nous.runtime.maintenance import outdated
from workers.episode_reviser import WORKER as REVISER
from workers.episode_summarizer import WORKER as SUMMARIZER
from workers.fact_extractor import FORGOTTEN
from workers.fact_extractor import WORKER as EXTRACTOR

FORM = exact_form(GOOD["candidate_facts"][0]["text"])


def forms(_: Scope) -> set[str]:
    return {FORM}


def forgetful(world: ModelWorld) -> WorkerContext:
    return replace(world.context, suppressed=forms)


def grown(world: ModelWorld) -> Effects:
    """The same session, which has gone on, is summarised."""
    event = world.publish(text=f"{SESSION}\n\nAssistant: You are welcome, any time.")
    return SUMMARIZER.handler_factory(forgetful(world))(event)


def revised(world: ModelWorld) -> Effects:
    """Its episode is made anew with another prompt."""
    (episode,) = world.episodes
    world.use(world.summarizer(version="episode-next"))
    event = outdated(episode, by="scripted:model episode-next", reason="test", context=world.context)
    return REVISER.handler_factory(forgetful(world))(event)


@pytest.fixture(params=[grown, revised])
def made_again(request: pytest.FixtureRequest) -> Callable[[ModelWorld], Effects]:
    return request.param


@pytest.fixture
def world() -> ModelWorld:
    world = ModelWorld()
    world.publish()
    world.work()
    (episode,) = world.episodes
    assert [exact_form(fact.text) for fact in episode.candidate_facts] == [FORM]
    return world


def test_an_episode_that_is_made_again_has_no_candidate_that_was_forgotten(
    world: ModelWorld, made_again: Callable[[ModelWorld], Effects]
) -> None:
    effects = made_again(world)

    [saved] = [write for write in effects.writes if isinstance(write, SaveEpisode)]
    [said] = effects.events
    assert isinstance(said, EpisodeSummarized)
    assert (saved.episode.candidate_facts, said.candidate_facts) == ((), ())
    assert dict(saved.episode.dropped_facts) == {"was forgotten on request": 1}


def test_an_episode_whose_candidates_were_all_forgotten_is_not_read_again_for_some(
    world: ModelWorld, made_again: Callable[[ModelWorld], Effects]
) -> None:
    effects = made_again(world)
    assert world.store.apply(effects.writes) is None
    said: Any = effects.events[0]
    asked = len(world.model.questions)

    learned = EXTRACTOR.handler_factory(forgetful(world))(said)

    assert (learned.events, learned.skipped) == ((), FORGOTTEN)
    assert len(world.model.questions) == asked
