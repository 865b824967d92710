"""What a store of episodes promises, asked of each: in memory, on fakeredis, and on a real server."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import uuid5

import fakeredis
import pytest
import redis
from builders.episodes import HOME, NOON, WORK, episode

from nous.bus.base import Bus, Committed
from nous.bus.memory import MemoryBus
from nous.bus.redis import RedisBus
from nous.effects import AppendFacts, Effects, SaveEpisode, Write
from nous.episode import Episode
from nous.events import NAMESPACE
from nous.fact import Linked, LogVersion
from nous.scope import Scope
from nous.store.base import Episodes, FactLog
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.plans import plan_for
from nous.store.redis_episodes import RedisEpisodes
from nous.store.redis_facts import RedisFactLog


@dataclass(frozen=True)
class World:
    """Episodes, facts, and the bus that writes them."""

    episodes: Episodes
    facts: FactLog
    bus: Bus

    def write(self, *writes: Write) -> bool:
        """Whether they were applied."""
        return isinstance(self.bus.apply(Effects(writes=writes)), Committed)


def in_memory() -> World:
    store = MemoryStore()
    return World(store, store, MemoryBus(store.apply))


def on_redis(client: redis.Redis) -> World:
    keys = StoreKeys("t")
    bus = RedisBus(client, plan_of=partial(plan_for, keys=keys))
    return World(RedisEpisodes(client, keys), RedisFactLog(client, keys), bus)


@pytest.fixture(params=["memory", "fakeredis", "server"])
def world(request: pytest.FixtureRequest) -> World:
    match request.param:
        case "memory":
            return in_memory()
        case "fakeredis":
            return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
        case _:
            return on_redis(request.getfixturevalue("redis_client"))


def test_episodes_that_ended_together_have_an_order_too(world: World) -> None:
    together = [episode(f"s{number}") for number in range(5)]
    for each in together:
        world.write(SaveEpisode(episode=each))

    assert list(world.episodes.recent(HOME)) == sorted(together, key=lambda each: str(each.id), reverse=True)


def sessions(episodes: Sequence[Episode]) -> list[str]:
    return [each.session_id for each in episodes]


def linked(scope: Scope) -> AppendFacts:
    """An append to a log without rows."""
    one, other = uuid5(NAMESPACE, "one"), uuid5(NAMESPACE, "other")
    row = Linked(fact_id=one, other=other, reason="number", at=NOON)
    return AppendFacts(scope=scope, expected=LogVersion(), rows=(row,))


def test_an_episode_is_read_as_it_was_saved(world: World) -> None:
    saved = episode()
    assert world.write(SaveEpisode(episode=saved))

    assert world.episodes.get(HOME, saved.id) == saved


def test_an_episode_that_nobody_saved_is_none(world: World) -> None:
    assert world.episodes.get(HOME, episode().id) is None


def test_an_episode_is_not_overwritten_by_a_handler_that_saw_none(world: World) -> None:
    assert world.write(SaveEpisode(episode=episode(version="v1")))

    assert not world.write(SaveEpisode(episode=episode(version="v2")))
    found = world.episodes.get(HOME, episode().id)
    assert found is not None
    assert found.version == "v1"


def test_a_new_version_takes_the_place_of_the_one_the_handler_saw(world: World) -> None:
    world.write(SaveEpisode(episode=episode(version="v1")))
    newer = episode(version="v2", ended_at=NOON + timedelta(hours=1))

    assert world.write(SaveEpisode(episode=newer, replaces=episode(version="v1")))
    assert list(world.episodes.recent(HOME)) == [newer]


def test_a_version_that_is_gone_is_not_replaced_twice(world: World) -> None:
    world.write(SaveEpisode(episode=episode(version="v1")))
    world.write(SaveEpisode(episode=episode(version="v2"), replaces=episode(version="v1")))

    assert not world.write(SaveEpisode(episode=episode(version="v3"), replaces=episode(version="v1")))


def test_recent_episodes_come_newest_first(world: World) -> None:
    for hours in (1, 3, 2):
        world.write(SaveEpisode(episode=episode(f"s{hours}", ended_at=NOON + timedelta(hours=hours))))

    assert sessions(world.episodes.recent(HOME)) == ["s3", "s2", "s1"]
    assert sessions(world.episodes.recent(HOME, limit=2)) == ["s3", "s2"]
    assert sessions(world.episodes.recent(HOME, limit=0)) == []


def test_an_episode_is_not_seen_from_another_scope(world: World) -> None:
    world.write(SaveEpisode(episode=episode()))

    assert world.episodes.get(WORK, episode().id) is None
    assert sessions(world.episodes.recent(WORK)) == []


def test_scopes_are_those_with_an_episode_or_a_fact(world: World) -> None:
    odd = Scope("tenant:1", "100%", "日本 語")
    assert list(world.episodes.scopes()) == []

    world.write(SaveEpisode(episode=episode(scope=odd)))
    world.write(linked(WORK))

    assert list(world.episodes.scopes()) == sorted([odd, WORK])


def test_of_writes_that_belong_together_none_is_applied_when_one_is_refused(world: World) -> None:
    world.write(SaveEpisode(episode=episode()))

    assert not world.write(linked(HOME), SaveEpisode(episode=episode(version="v2")))
    assert world.facts.read(HOME).rows == ()
    assert world.write(linked(HOME))
    assert not world.write(SaveEpisode(episode=episode("s2")), linked(HOME))
    assert world.episodes.get(HOME, episode("s2").id) is None
