"""What a store of anchored summaries promises, asked of each: in memory, on fakeredis, and on a real server."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid5

import fakeredis
import pytest
import redis
from builders.episodes import HOME, NOON, WORK

from nous.bus.base import Bus, Committed
from nous.bus.memory import MemoryBus
from nous.bus.redis import RedisBus
from nous.effects import Effects, SaveAnchor
from nous.episode import Tier, Tokens
from nous.errors import Misconfigured
from nous.events import NAMESPACE
from nous.scope import Scope
from nous.store.base import Anchors
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.plans import plan_for
from nous.store.redis_anchors import RedisAnchors
from nous.summary.anchored.anchor import Anchor
from nous.summary.anchored.model import AnchoredSummary

ODD = "a/b: 100% 日本"


@dataclass(frozen=True)
class World:
    """Anchors, and the bus that writes them."""

    anchors: Anchors
    bus: Bus

    def save(self, anchor: Anchor, replaces: Anchor | None = None) -> bool:
        """Whether it was stored."""
        write = SaveAnchor(anchor=anchor, replaces=replaces.event_id if replaces else None)
        return isinstance(self.bus.apply(Effects(writes=(write,))), Committed)

    def get(self, scope: Scope = HOME, agent: str = "a1", session: str = "s1") -> Anchor | None:
        return self.anchors.anchor(scope, agent_id=agent, session_id=session)


def in_memory() -> World:
    store = MemoryStore()
    return World(store, MemoryBus(store.apply))


def on_redis(client: redis.Redis) -> World:
    keys = StoreKeys("t")
    return World(RedisAnchors(client, keys), RedisBus(client, plan_of=partial(plan_for, keys=keys)))


@pytest.fixture(params=["memory", "fakeredis", "server"])
def world(request: pytest.FixtureRequest) -> World:
    match request.param:
        case "memory":
            return in_memory()
        case "fakeredis":
            return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
        case _:
            return on_redis(request.getfixturevalue("redis_client"))


def anchor(iteration: int = 1, **fields: Any) -> Anchor:
    known: dict[str, Any] = {
        "scope": HOME,
        "agent_id": "a1",
        "session_id": "s1",
        "summary": AnchoredSummary.of({"intent": "- Größe 🌍", "earlier": "- once"}, iteration=iteration),
        "digest": "ab" * 32,
        "entries": 4,
        "bytes": 100,
        "event_id": uuid5(NAMESPACE, f"event {iteration}"),
        "at": NOON,
        "tier": Tier.LLM,
        "tokens": Tokens(10, 2),
    }
    return Anchor(**{**known, **fields})


def test_it_is_read_as_it_was_saved(world: World) -> None:
    assert world.get() is None
    assert world.save(anchor())

    assert world.get() == anchor()


def test_there_is_one_for_each_agent_and_session_replaced_in_place(world: World) -> None:
    world.save(anchor())
    world.save(anchor(agent_id=ODD))
    world.save(anchor(session_id=ODD))

    assert world.save(anchor(2), replaces=anchor())
    assert world.get() == anchor(2)
    assert world.get(agent=ODD) == anchor(agent_id=ODD)
    assert world.get(session=ODD) == anchor(session_id=ODD)


def test_scopes_do_not_see_each_other_s(world: World) -> None:
    world.save(anchor())

    assert world.get(WORK) is None
    assert world.save(anchor(scope=WORK))


def test_one_that_was_replaced_meanwhile_is_not_replaced_again(world: World) -> None:
    world.save(anchor())
    world.save(anchor(2), replaces=anchor())

    assert not world.save(anchor(3), replaces=anchor())
    assert not world.save(anchor(3))
    assert world.get() == anchor(2)


def test_one_of_another_schema_version_is_refused_and_not_misread(redis_client: redis.Redis) -> None:
    world = on_redis(redis_client)
    world.save(replace(anchor(), summary=AnchoredSummary(schema_version=2)))

    with pytest.raises(Misconfigured, match="another release"):
        world.get()
