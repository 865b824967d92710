"""What a store keeps beside an episode: earlier editions, what it was made from, who has tried, what was decided."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID, uuid5

import fakeredis
import pytest
import redis
from builders.episodes import HOME, NOON, WORK, episode

from nous.brief import Brief, Passage
from nous.bus.base import Bus, Committed, Lane, Subscription
from nous.bus.keys import BusKeys
from nous.bus.memory import MemoryBus
from nous.bus.redis import RedisBus
from nous.effects import Effects, KeepDecision, NoteTried, SaveEpisode, Write
from nous.episode import Decision, Tier
from nous.events import NAMESPACE, DecisionRecorded, episode_id
from nous.scope import Scope
from nous.store.base import Briefs, DecisionSource, Episodes
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.plans import plan_for
from nous.store.redis_decisions import RedisDecisions
from nous.store.redis_episodes import RedisEpisodes

KEEPER = Subscription("decision-keeper", DecisionRecorded)
BRIEF = Brief(
    windows=((Passage("[Part 1 of 1]"), Passage("[User] Größe? 🌍", "User", 3)),),
    decisions=(Decision(description="Use Postgres", category="tool", stakes="high", confidence=0.8, at=NOON),),
)


@dataclass(frozen=True)
class World:
    """A store, and the bus that writes to it."""

    episodes: Episodes
    briefs: Briefs
    decisions: DecisionSource
    bus: Bus

    def write(self, *writes: Write) -> bool:
        """Whether they were applied."""
        return isinstance(self.bus.apply(Effects(writes=writes)), Committed)

    def unrefined(self, by: str) -> set[tuple[Scope, UUID]]:
        return set(self.briefs.unrefined(but=(by,)))


def in_memory() -> World:
    store = MemoryStore()
    return World(store, store, store, MemoryBus(store.apply))


def on_redis(client: redis.Redis) -> World:
    keys, bus_keys = StoreKeys("t"), BusKeys("t")
    bus = RedisBus(client, plan_of=partial(plan_for, keys=keys), keys=bus_keys)
    episodes = RedisEpisodes(client, keys)
    return World(episodes, episodes, RedisDecisions(client, keys, bus_keys=bus_keys, group=KEEPER.group), bus)


@pytest.fixture(params=["memory", "fakeredis", "server"])
def world(request: pytest.FixtureRequest) -> World:
    match request.param:
        case "memory":
            return in_memory()
        case "fakeredis":
            return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
        case _:
            return on_redis(request.getfixturevalue("redis_client"))


@pytest.fixture(params=["fakeredis", "server"])
def on_a_server(request: pytest.FixtureRequest) -> World:
    if request.param == "fakeredis":
        return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
    return on_redis(request.getfixturevalue("redis_client"))


def kept(text: str, *, scope: Scope = HOME, session: str = "s1", **fields: Any) -> KeepDecision:
    return KeepDecision(
        scope=scope,
        episode_id=episode_id(scope, session),
        event_id=uuid5(NAMESPACE, text),
        decision=Decision(description=text, **fields),
    )


def recorded(text: str, *, scope: Scope = HOME, session: str = "s1") -> DecisionRecorded:
    event_id = uuid5(NAMESPACE, text)
    return DecisionRecorded(
        id=event_id,
        time=NOON,
        source="tests",
        scope=scope,
        agent_id="a",
        session_id=session,
        trace_id=event_id,
        description=text,
    )


def said(world: World, *, scope: Scope = HOME, session: str = "s1") -> list[str]:
    found = world.decisions.get_episode_decisions(episode_id(scope, session), scope=scope)
    return [decision.description for decision in found]


def test_editions_that_were_replaced_stay_reachable_the_newest_first(world: World) -> None:
    first = episode()
    second = replace(first, edition=2, tier=Tier.LLM, model="openai:m", prompt_version="episode-1")
    third = replace(first, edition=3, version="v2")
    world.write(SaveEpisode(episode=first))
    world.write(SaveEpisode(episode=second, replaces=first))
    world.write(SaveEpisode(episode=third, replaces=second))

    assert list(world.episodes.editions(HOME, first.id)) == [third, second, first]
    assert world.episodes.get(HOME, first.id) == third
    assert list(world.episodes.editions(WORK, first.id)) == []


def test_an_edition_of_the_same_transcript_is_not_replaced_twice(world: World) -> None:
    first = episode()
    second = replace(first, edition=2)
    world.write(SaveEpisode(episode=first))

    assert world.write(SaveEpisode(episode=second, replaces=first))
    assert not world.write(SaveEpisode(episode=second, replaces=first))


def test_a_brief_is_read_as_it_was_saved(world: World) -> None:
    world.write(SaveEpisode(episode=episode(), brief=BRIEF))

    assert world.briefs.brief(HOME, episode().id) == BRIEF
    assert world.briefs.brief(WORK, episode().id) is None


def test_half_a_character_in_a_brief_costs_nothing_but_itself(world: World) -> None:
    odd = Brief(windows=((Passage("[User] half \ud83d of one", "User", 1),),))

    assert world.write(SaveEpisode(episode=episode(), brief=odd))
    found = world.briefs.brief(HOME, episode().id)
    assert found is not None
    assert "of one" in found.windows[0][0].text


def test_an_extractive_episode_waits_for_a_model_until_one_has_made_it(world: World) -> None:
    first, other = episode(), episode("s2", scope=Scope("tenant:1", "100%", "日本 語"))
    world.write(SaveEpisode(episode=first, brief=BRIEF))
    world.write(SaveEpisode(episode=other, brief=BRIEF))
    world.write(SaveEpisode(episode=episode("s3")))  # of which nothing was kept
    assert world.unrefined("m 1") == {(HOME, first.id), (other.scope, other.id)}

    world.write(SaveEpisode(episode=replace(first, edition=2, tier=Tier.LLM), replaces=first))
    assert world.unrefined("m 1") == {(other.scope, other.id)}


def test_who_has_tried_an_episode_is_not_offered_it_again_and_another_is(world: World) -> None:
    world.write(SaveEpisode(episode=episode(), brief=BRIEF))
    world.write(NoteTried(scope=HOME, episode_id=episode().id, by="m 1"))

    assert world.unrefined("m 1") == set()
    assert world.unrefined("m 2") == {(HOME, episode().id)}


def test_decisions_are_kept_once_each_and_by_session(world: World) -> None:
    for _ in range(2):
        world.write(kept("second", at=NOON.replace(hour=13)), kept("first", at=NOON))
    world.write(kept("elsewhere", scope=WORK))
    world.write(kept("another session", session="s2"))

    assert said(world) == ["first", "second"]
    assert said(world, scope=WORK) == ["elsewhere"]
    assert said(world, session="s3") == []


def test_a_decision_that_nobody_has_kept_yet_is_seen(on_a_server: World) -> None:
    on_a_server.bus.publish(recorded("unread"), recorded("of another session", session="s2"))
    assert said(on_a_server) == ["unread"]

    [delivery] = on_a_server.bus.receive(KEEPER, lane=Lane.LIVE, limit=1, lease=60)
    on_a_server.bus.publish(recorded("later"))
    assert said(on_a_server) == ["later", "unread"]

    on_a_server.bus.commit(delivery, Effects(writes=(kept("unread", at=NOON),)))
    assert said(on_a_server) == ["later", "unread"]
