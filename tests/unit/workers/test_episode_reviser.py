"""Episodes are made anew when there is a better means, aside from the ones there are, which stay reachable."""

from typing import Any

from builders.answers import GOOD, SESSION, answer
from builders.model_world import ModelWorld, outdated_by
from builders.stores import WholeStore

from nous.domain.effects import RecordResummaryAttempt
from nous.domain.episode import Tier
from nous.domain.scope import Scope
from workers.episode_reviser import NO_EPISODE, UP_TO_DATE, WORKER

NEWER = "episode-next"


def summarized(*, with_model: bool = True) -> ModelWorld:
    """A world that has made an episode of one session."""
    world = ModelWorld()
    if not with_model:
        world.use(None)
    world.publish()
    world.work()
    return world


def remade(world: ModelWorld, **told: Any) -> None:
    """Have the episode made anew with a newer prompt, by a model that answers with *told*."""
    world.answers = lambda _: answer(**told)
    world.use(world.summarizer(version=NEWER))
    world.bus.publish(outdated_by(world, f"scripted:model {NEWER}"))
    world.work()


def current_facts(world: ModelWorld) -> list[str]:
    with world.context.fact_cache.current(world.store, Scope(), world.context.embedder) as knowledge:
        return [known.fact.text for known in knowledge.current()]


def test_sessions_of_before_there_was_a_model_are_made_anew_when_there_is_one() -> None:
    world = summarized(with_model=False)
    assert world.tiers == ["extractive"]

    world.use(world.summarizer())
    assert world.offer() == 1
    world.work()

    (episode,) = world.episodes
    assert (episode.tier, episode.edition, episode.model) == (Tier.LLM, 2, "scripted:model")
    assert episode.summary.title == GOOD["title"]
    assert (episode.files_touched, episode.version, episode.session_id) == ((), episode.version, "s1")
    assert world.offer() == 0


def test_offering_twice_asks_once() -> None:
    world = summarized(with_model=False)
    world.use(world.summarizer())

    assert world.offer() == 1
    assert world.offer() == 0
    world.bus.publish(outdated_by(world, "scripted:model episode-4"))
    world.work()

    assert len(world.model.questions) == 1
    assert world.account("episode-reviser").received == 1


def test_a_new_prompt_makes_a_new_edition_and_the_old_one_stays_reachable() -> None:
    world = summarized()

    remade(world, title="Another title for the same session of billing")

    (episode,) = world.episodes
    editions = world.store.editions(Scope(), episode.id)
    assert [each.edition for each in editions] == [2, 1]
    assert [each.prompt_version for each in editions] == [NEWER, "episode-4"]
    assert [each.summary.title for each in editions] == ["Another title for the same session of billing", GOOD["title"]]
    assert world.account("episode-reviser").done == 1


def test_lessons_that_were_there_stay_where_the_model_tells_none() -> None:
    world = summarized()

    remade(world, title="Another title for the same session of billing", key_points=[])

    (episode,) = world.episodes
    assert episode.edition == 2
    assert episode.summary.title == "Another title for the same session of billing"
    assert list(episode.summary.key_points) == GOOD["key_points"]


def test_a_new_edition_that_says_the_same_facts_adds_none() -> None:
    world = summarized()
    before = current_facts(world)

    remade(world)

    assert before
    assert current_facts(world) == before
    assert world.account("fact-extractor").skipped == {"already learned": 1}


def test_what_this_model_and_prompt_have_made_is_left_as_it_is() -> None:
    world = summarized()

    effects = WORKER.handler_factory(world.context)(outdated_by(world, "scripted:model episode-3"))

    assert effects.skipped == UP_TO_DATE
    assert WholeStore().apply(effects.writes) is not None, "up to date only while that edition is there"
    assert len(world.model.questions) == 1


def test_an_edition_that_was_replaced_meanwhile_is_made_of_what_there_is_now() -> None:
    world = summarized(with_model=False)
    event = outdated_by(world, "scripted:model episode-3")
    world.publish(text=f"{SESSION}\n\nUser: And what does staging use?\n\nAssistant: Staging uses port 9018.")
    world.work()
    world.use(world.summarizer())

    world.bus.publish(event)
    world.work()

    (episode,) = world.episodes
    assert (episode.tier, episode.edition) == (Tier.LLM, 3)
    assert "Staging uses port 9018" in world.model.questions[0].user


def test_without_a_model_it_waits_for_one() -> None:
    world = summarized()
    event = outdated_by(world, "another")
    world.use(None)

    world.bus.publish(event)
    world.work()

    account = world.account("episode-reviser")
    assert (account.in_flight, account.dead) == (1, 0)
    world.use(world.summarizer(version=NEWER))
    world.work(600, step=60)
    assert world.account("episode-reviser").done == 1


def test_an_episode_that_nobody_has_is_skipped_and_not_offered_any_more() -> None:
    world, other = ModelWorld(), ModelWorld()
    world.publish()
    world.work()
    (episode,) = world.episodes
    other.store.apply([RecordResummaryAttempt(scope=Scope(), episode_id=episode.id, by="an older release")])

    effects = WORKER.handler_factory(other.context)(outdated_by(world, "x"))

    assert effects.skipped == NO_EPISODE
    assert other.store.apply(effects.writes) is None
    assert list(other.store.unrefined()) == []
