"""Somebody takes a permission away in mid-work: what needs it is done once it is given back, and never by halves."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
import redis
from builders import stores
from builders.guarded_server import Guarded, guarded

from nous.bus.base import Bus, Committed, Delivery, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, SaveDecision
from nous.domain.episode import Decision
from nous.domain.errors import NotAllowed
from nous.domain.events import FactsUnembedded, SessionEnded
from nous.domain.scope import Scope
from nous.redis_server import binary

TOY = Subscription("toy", SessionEnded)
USER = "somebody"
TAKEN = (
    *("xadd", "xack", "xclaim", "xdel", "xpending", "xreadgroup", "xrange"),
    *("get", "set", "del", "expire", "type", "exists"),
    *("hget", "hset", "hsetnx", "hdel", "hexists", "hlen", "hincrby"),
    *("zadd", "zrem", "rpush", "ltrim", "lrange", "time"),
)


@dataclass(frozen=True)
class Desk:
    """The bus of a user whose permissions change, and the server as its operator sees it."""

    bus: Bus
    dead: RedisDeadLetterQueue
    erasure: RedisBusErasure
    operator: Any
    ended: Callable[..., SessionEnded]

    def allow(self, *rules: str) -> None:
        self.operator.execute_command("ACL", "SETUSER", USER, *rules)

    def held(self) -> dict[bytes, bytes]:
        """All that the server has."""
        return {key: self.operator.dump(key) for key in self.operator.scan_iter()}

    def receive(self) -> Delivery:
        [delivery] = self.bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)
        return delivery


@pytest.fixture(scope="module")
def server() -> Iterator[Guarded]:
    with guarded(binary.find()) as found:
        yield found


@pytest.fixture
def desk(server: Guarded, ended: Callable[..., SessionEnded]) -> Iterator[Desk]:
    with server.client("operator") as operator, redis.Redis.from_url(server.url(USER), protocol=2) as client:
        operator.flushall()
        operator.execute_command("ACL", "SETUSER", USER, "reset", "on", f">{USER}", "~*", "&*", "+@all")
        keys = BusKeys("t")
        dead, erasure = RedisDeadLetterQueue(client, keys), RedisBusErasure(client, keys)
        yield Desk(stores.on_redis(client).bus, dead, erasure, operator, ended)


Act = Callable[[], object]


def receiving(desk: Desk) -> Act:
    desk.bus.publish(desk.ended("s1"))
    desk.receive()
    desk.bus.publish(desk.ended("s2"))
    return desk.receive


def committing(desk: Desk) -> Act:
    desk.bus.publish(desk.ended("s1"))
    delivery = desk.receive()
    decision = Decision(description="use tabs", at=delivery.event.time)
    kept = SaveDecision(scope=Scope(), episode_id=UUID(int=1), event_id=delivery.event.id, decision=decision)
    told = FactsUnembedded.after(delivery.event, by="toy", at=delivery.event.time)
    return lambda: desk.bus.commit(delivery, Effects(writes=(kept,), events=(told,))) == Committed()


def burying(desk: Desk) -> Act:
    desk.bus.publish(desk.ended("s1"))
    delivery = desk.receive()
    return lambda: desk.bus.dead_letter(delivery.ref, progress=delivery.state, reason="it cannot work")


def erasing(desk: Desk) -> Act:
    desk.bus.publish(desk.ended("s1"), desk.ended("s2"))
    desk.receive()
    found = desk.erasure.find(ErasureTarget(scope=Scope(), session_id="s1"))
    return lambda: desk.erasure.erase(found)["stream entries"] == 1


LATER = frozenset((receiving, command) for command in ("get", "hexists", "xpending"))
"""What of an act is a step of its own: what was received, and not looked at, comes back when its lease ends."""

ACTS = (receiving, committing, burying, erasing)


@pytest.mark.parametrize(
    ("act", "command"),
    [(act, command) for act in ACTS for command in TAKEN if (act, command) not in LATER],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_is_not_allowed_is_left_undone_as_a_whole_and_done_once_it_is(
    desk: Desk, act: Callable[[Desk], Act], command: str
) -> None:
    do = act(desk)
    before = desk.held()
    desk.allow(f"-{command}")
    try:
        assert do()
    except NotAllowed:
        assert desk.held() == before
        desk.allow(f"+{command}")
        assert do()
