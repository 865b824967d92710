"""Episodes are offered to models while they are extractive and there; what comes of it is noted of those very ones."""

from dataclasses import replace

import pytest
from builders.answers import SESSION, answer
from builders.meddled import meddled
from builders.model_world import ModelWorld, outdated_by
from builders.scripted_model import Answer

from nous.bus.base import Subscription
from nous.domain.effects import DegradedResult, Effects, RecordResummaryAttempt, SaveEpisode
from nous.domain.episode import Episode, Tier
from nous.domain.events import EpisodeOutdated
from nous.domain.scope import Scope
from nous.llm.base import ModelRefused, ModelTimeout, ModelUnreachable
from workers.episode_reviser import WORKER as REVISER

NEWER = "episode-next"
GROWN = f"{SESSION}\n\nUser: And what does staging use?\n\nAssistant: Staging uses port 9018."


def world_of_before() -> ModelWorld:
    """A world with a model, and an episode of before there was one."""
    world = ModelWorld()
    world.use(None)
    world.publish()
    world.work()
    world.use(world.summarizer())
    return world


def world_of_a_newer_prompt() -> ModelWorld:
    """A world with an episode that a model has made, and another prompt."""
    world = ModelWorld()
    world.publish()
    world.work()
    world.use(world.summarizer(version=NEWER))
    return world


def offered(world: ModelWorld) -> int:
    """How many offers were ever made."""
    return sum(each.length for each in world.bus.backlogs(Subscription(REVISER.name, REVISER.consumes)))


def made_by_a_model(episode: Episode) -> Episode:
    return replace(episode, tier=Tier.LLM, edition=episode.edition + 1, model="another", prompt_version="p")


def test_an_episode_that_a_model_makes_while_it_is_offered_is_not_offered() -> None:
    world = world_of_before()
    (episode,) = world.episodes

    def made(_: Effects) -> None:
        world.store.apply([SaveEpisode(episode=made_by_a_model(episode), replaces=episode)])

    assert world.offer(meddled(world.bus, made)) == 0

    assert (list(world.store.unrefined()), offered(world)) == ([], 0)


def tried_in_vain(world: ModelWorld, event: EpisodeOutdated) -> Effects:
    """What comes of *event* where the model is of no use, and there is no patience left."""
    try:
        return REVISER.handler_factory(world.context)(event)
    except DegradedResult as offer:
        return offer.effects


@pytest.mark.parametrize("fate", ["not the form", ModelTimeout("hangs"), ModelRefused("no such model")])
def test_what_was_tried_in_vain_is_noted_of_that_very_edition(fate: Answer) -> None:
    world = world_of_before()
    world.answers = lambda _: fate
    effects = tried_in_vain(world, outdated_by(world, "x"))
    assert any(isinstance(each, RecordResummaryAttempt) for each in effects.writes)
    world.use(None)
    world.publish(text=GROWN)
    world.work()
    (newer,) = world.episodes

    assert world.store.apply(effects.writes) is not None

    assert list(world.store.unrefined(but=("x",))) == [(Scope(), newer.id)]
    assert list(world.store.unrefined(but=("",))) == []


@pytest.mark.parametrize("fate", ["not the form", ModelRefused("no such model")])
def test_an_episode_that_a_model_has_made_is_not_offered_because_another_tried_it_in_vain(fate: Answer) -> None:
    world = world_of_a_newer_prompt()
    world.answers = lambda _: fate

    world.bus.publish(outdated_by(world, f"scripted:model {NEWER}"))
    world.work()

    assert sum(world.account(REVISER.name).skipped.values()) == 1
    assert list(world.store.unrefined()) == []


def test_an_episode_that_a_model_has_made_waits_for_the_next_one_however_long_that_is_out() -> None:
    world = world_of_a_newer_prompt()
    world.answers = lambda _: ModelUnreachable("500")
    world.bus.publish(outdated_by(world, f"scripted:model {NEWER}"))
    world.work(26 * 3600, step=300)
    account = world.account(REVISER.name)
    assert (account.in_flight, account.dead, account.skipped) == (1, 0, {})

    world.answers = lambda _: answer()
    world.work(3600, step=60)

    (episode,) = world.episodes
    assert (episode.edition, episode.prompt_version) == (2, NEWER)
