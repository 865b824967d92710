"""What becomes of sessions when their model does not answer: every one has an episode in the end, and none is lost."""

from collections import Counter
from datetime import timedelta

import pytest
from builders.answers import answer
from builders.model_world import START, ModelWorld

from nous.domain.episode import Tier
from nous.llm.base import ModelMisconfigured, ModelQuota, ModelRefused, ModelTimeout, ModelUnreachable, Question
from workers.episode_summarizer import WORKER as SUMMARIZER

SESSIONS = 20


def out_until(world: ModelWorld, end: float, error: Exception) -> None:
    """Have the model fail with *error* until *end* seconds after the beginning, and answer from then on."""
    world.answers = lambda _: error if world.now < START + end else answer()


def published(world: ModelWorld, count: int = SESSIONS) -> None:
    for number in range(count):
        world.publish(
            f"s{number}", f"User: Please always run service billing on port 9017, says {number}.\n\nAssistant: Done."
        )


def asked_twice(world: ModelWorld) -> int:
    """Calls beyond one for each prompt."""
    asked = Counter(question.digest for question in world.model.questions)
    return sum(asked.values()) - len(asked)


def test_an_outage_of_a_minute_only_delays_the_model() -> None:
    world = ModelWorld()
    out_until(world, 60, ModelUnreachable("refused"))

    published(world)
    world.work(120, step=5)

    assert world.tiers == ["llm"] * SESSIONS
    account = world.account("episode-summarizer")
    assert (account.done, account.dead, account.discrepancy) == (SESSIONS, 0, 0)
    assert world.counts["answered"] == SESSIONS
    assert asked_twice(world) <= world.counts["failed_transport"]
    assert world.counts["calls"] == SESSIONS + world.counts["failed_transport"]
    assert world.counts["failed_transport"] < 10  # one call finds out for all


def test_a_quota_is_not_waited_for_where_that_is_not_wanted() -> None:
    world = ModelWorld(when_exhausted="extractive")
    out_until(world, 3600, ModelQuota("enough", until=world.date() + timedelta(hours=1)))

    published(world, 2)
    world.work()

    assert world.tiers == ["extractive"] * 2
    assert world.offer() == 2
    world.work(2 * 3600, step=60)
    assert world.tiers == ["llm"] * 2


def test_a_question_that_always_times_out_is_tried_as_often_as_configured_and_then_done_without() -> None:
    world = ModelWorld(lambda question: ModelTimeout("too slow") if "slow" in question.user else answer())
    world.publish("slow", "User: Please do the slow thing with billing on port 9017.\n\nAssistant: It is done now.")

    for number in range(30):
        world.publish(f"quick{number}")
        world.work(20, step=5)

    slow = next(episode for episode in world.episodes if episode.session_id == "slow")
    assert slow.made_do is not None
    assert slow.made_do.startswith("timeout: ")
    assert world.counts["failed_timeout"] == world.retry_policy.max_attempts
    assert world.account("episode-summarizer").dead == 0


@pytest.mark.parametrize(
    "error", [ModelRefused("the question is too long"), ModelMisconfigured("no such key")], ids=["question", "key"]
)
def test_what_waiting_does_not_mend_is_not_waited_for(error: Exception) -> None:
    world = ModelWorld(lambda _: error)

    world.publish()
    world.work()

    (episode,) = world.episodes
    assert episode.tier is Tier.EXTRACTIVE
    assert (episode.made_do or "").startswith("other: ")
    assert world.counts["failed_other"] == 1


def test_an_answer_that_is_of_no_use_is_asked_for_once_more_and_never_again() -> None:
    world = ModelWorld(lambda _: "I would rather talk about the weather.")

    world.publish()
    world.work()
    assert world.tiers == ["extractive"]
    assert world.offer() == 1
    world.work(60)

    assert (world.counts["calls"], world.counts["asked_again"]) == (2, 1)  # the second time, both are remembered
    assert world.account("episode-reviser").skipped == {"parse": 1}
    assert world.offer() == 0
    (episode,) = world.episodes
    assert (episode.made_do or "").startswith("parse: ")


def test_a_refused_commit_does_not_ask_again() -> None:
    world = ModelWorld()
    summarizer = world.summarizer()
    calls: list[int] = []

    def grown_meanwhile(_: Question) -> str:
        calls.append(1)
        if len(calls) == 1:  # another process makes an episode of the same session
            effects = SUMMARIZER.handler_factory(world.context)(
                world.publish("s1", "User: Hello, please always run service billing on port 9017.")
            )
            assert world.store.apply(effects.writes) is None
        return answer()

    world.answers = grown_meanwhile
    world.use(summarizer, SUMMARIZER)
    world.publish()
    world.work()

    assert len(world.model.questions) == 2  # one for each transcript
    (episode,) = world.episodes
    assert episode.edition == 2  # the longer one took the place of the other's
    assert world.account("episode-summarizer").discrepancy == 0


def test_the_day_s_tokens_are_kept_to_and_the_rest_waits_for_midnight() -> None:
    world = ModelWorld(daily_tokens=9_000)
    published(world, 5)

    world.work(3600, step=60)
    first_day = world.date().date()
    [spending] = world.books.token_usage.usage(first_day)
    assert 0 < len(world.episodes) < 5
    assert spending.spent == world.counts["tokens_in"] + world.counts["tokens_out"] <= 9_000
    assert spending.reserved == 0

    world.work(48 * 3600, step=3600)
    assert world.tiers == ["llm"] * 5
    assert (world.counts["calls"], world.account("episode-summarizer").dead) == (5, 0)
