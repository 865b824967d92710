"""What one bad question, answer or record does to itself, and not to the others."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import orjson
import pytest
from builders.answers import answer
from builders.model_world import ModelWorld
from builders.questions import question

from nous.episode import Episode
from nous.errors import Misconfigured
from nous.llm import talk
from nous.llm.base import ModelTimeout, ModelUnreachable, Question
from nous.llm.endpoint import Endpoint
from nous.llm.memory import MemoryPins, MemoryTally
from nous.llm.pinned import Pinned
from nous.llm.scripted import Scripted
from nous.scope import Scope
from workers.episode_reviser import WORKER as REVISER

BAD = "User: Please do the cursed thing with billing on port 9017.\n\nAssistant: The cursed thing is done now."
ENDPOINT = Endpoint(provider="openai", model="m", deadline=1, concurrency=1, base_url="http://there")
HOUR, DAY = 3600, 86_400


def cursed(question: Question) -> Any:
    return ModelUnreachable("500") if "cursed" in question.user else answer()


def test_a_question_that_makes_the_provider_fail_keeps_no_other_from_being_answered() -> None:
    world = ModelWorld(cursed)
    world.publish("bad", BAD)
    for number in range(12):
        world.publish(f"good{number}")
        world.work(600, step=10)

    good = [episode for episode in world.episodes if episode.session_id != "bad"]
    assert Counter(str(episode.tier) for episode in good) == {"llm": 12}


def test_a_question_that_makes_the_provider_fail_is_not_asked_for_ever() -> None:
    world = ModelWorld(cursed)
    world.publish("bad", BAD)
    for number in range(30):
        world.publish(f"good{number}")
        world.work(600, step=30)
        world.offer()

    bad = next(episode for episode in world.episodes if episode.session_id == "bad")
    asked = sum("cursed" in each.user for each in world.model.questions)
    assert (bad.tier, asked < 25) == ("extractive", True)
    assert sum(world.account(name).dead for name in world.workers) == 0


def test_episodes_of_an_outage_that_hangs_are_made_anew_on_another_day() -> None:
    world = ModelWorld(lambda _: ModelTimeout("hangs"))
    world.publish()
    world.work(2 * HOUR, step=60)
    assert world.offer() == 1
    world.work(4 * HOUR, step=60)
    assert world.account(REVISER.name).skipped == {"timeout, for today": 1}
    assert world.offer() == 0

    world.answers = lambda _: answer()
    world.now += DAY
    assert world.offer() == 1
    world.work(60)

    assert world.tiers == ["llm"]


def test_a_scope_without_tokens_makes_way_for_the_others() -> None:
    world = ModelWorld(daily_tokens=4_000, when_exhausted="extractive")
    world.use(None)
    for number in range(70):
        world.publish(f"s{number}", f"User: Run billing on port {9000 + number}, please.\n\nAssistant: It is done now.")
    world.publish("theirs", scope=Scope(project="theirs"))
    world.work()
    world.use(world.author())

    for _ in range(3):
        world.offer()
        world.work(60)

    assert [str(episode.tier) for episode in world.store.recent(Scope(project="theirs"))] == ["llm"]


def test_an_episode_that_cannot_be_read_or_is_gone_keeps_no_other_from_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = ModelWorld()
    world.use(None)
    for number in range(3):
        world.publish(f"s{number}")
    world.work()
    world.use(world.author())
    bad, gone, _ = (episode.id for episode in world.episodes)
    get = world.store.get

    def odd(scope: Scope, episode_id: UUID) -> Episode | None:
        if episode_id == bad:
            raise Misconfigured("the store holds no Episode that this release can read")
        return None if episode_id == gone else get(scope, episode_id)

    monkeypatch.setattr(world.store, "get", odd)

    assert world.offer() == 1
    assert world.offer() == 0


def test_facts_nested_deeper_than_facts_are_no_facts_and_no_crash() -> None:
    world = ModelWorld(lambda _: answer(candidate_facts="[" * 900 + '"a"' + "]" * 900))

    world.publish()
    world.work()

    assert world.tiers == ["llm"]


@pytest.mark.parametrize("count", [2**63 - 1, -1, "12", None, 1.5, True])
def test_a_count_of_tokens_that_is_none_is_estimated(count: object) -> None:
    reply = talk.answered("Tea.", (count, count), question(), ENDPOINT, is_whole=True)

    assert 0 < reply.tokens.total < 10_000


@pytest.mark.parametrize("body", [rb'{"a": "half \ud83d"}', b'{"a": "x", "usage": NaN}'])
def test_json_that_only_some_programs_write_is_read(body: bytes) -> None:
    found = talk.json_object(body)

    assert found is not None
    assert talk.answered(found["a"], (None, None), question(), ENDPOINT, is_whole=True).text.encode()


def test_threads_that_ask_the_same_at_once_ask_once() -> None:
    model = Scripted(lambda _: "Tea.")
    pinned = Pinned(model, MemoryPins(answer_ttl=60, clock=lambda: 0.0), MemoryTally())

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(pinned.ask, [question()] * 40))

    assert len(model.questions) == 1
    assert {reply.text for reply in replies} == {"Tea."}


def test_what_is_shown_again_of_a_bad_answer_has_a_bound() -> None:
    again = question().again("x" * 1_000_000, "Write JSON.")

    assert len(orjson.dumps([each.answer for each in again.earlier])) < 5_000
