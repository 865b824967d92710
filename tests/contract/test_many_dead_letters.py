"""However many letters there are, nobody asks a server for all at once: it would serve nobody else meanwhile."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import redis

from nous.bus.accounting import EventStatus
from nous.bus.base import Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.trimming import RedisTrimming
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope

KEYS = BusKeys("t")
SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
STREAM = KEYS.stream(SessionEnded.type, Priority.LIVE)
MANY, PAGE = 1500, 500
_RANGE = r"(?P<begin>\S+) (?P<end>\S+)(?: COUNT (?P<count>\d+))?"
OF_LETTERS = re.compile(rf"XRANGE {KEYS.letters} {_RANGE}", re.IGNORECASE)


class Town:
    """A bus with many letters, of which the last is about the one event there is."""

    def __init__(self, client: redis.Redis, event: SessionEnded) -> None:
        self.client: Any = client
        self.event = event
        self.delivery_stats, self.dead = RedisDeliveryStats(client, KEYS), RedisDeadLetterQueue(client, KEYS)
        self.erasure = RedisBusErasure(client, KEYS)
        self.trimming = RedisTrimming(client, KEYS)
        self.bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS)
        self.bus.publish(event)
        [self.delivery] = self.bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=1, lease=60)
        with client.pipeline(transaction=False) as pipe:
            for number in range(1, MANY + 1):
                letter: Any = {"group": "g", "kind": "session_ended", "lane": "live", "entry": f"1-{number}"}
                pipe.xadd(KEYS.letters, letter | {"grave": "dead", "reason": "why"})
            pipe.execute()

    def dead_letter(self) -> None:
        self.bus.dead_letter(self.delivery.ref, progress=None, reason="cannot work")

    @property
    def where(self) -> EventStatus:
        return self.delivery_stats.locate(self.event.id, SUMMARIZER).where


@pytest.fixture
def town(redis_client: redis.Redis, ended: Any) -> Town:
    return Town(redis_client, ended())


def asked(town: Town, do: Callable[[], object]) -> list[int | None]:
    """How many letters each look at them could have found while *do* ran; None where it could be all of them."""
    [(last, _)] = town.client.xrevrange(KEYS.letters, count=1)
    with town.client.monitor() as monitor:
        do()
        town.client.echo("that is all")
        looks: list[int | None] = []
        for told in monitor.listen():
            if "that is all" in told["command"]:
                return looks
            if found := OF_LETTERS.search(told["command"]):
                begin, end, count = found["begin"], found["end"], found["count"]
                known = 1 if begin == end else 0 if begin == f"({last.decode()}" else None
                looks.append(int(count) if count else known)
    raise AssertionError("the server said no more")


def test_where_a_pending_event_is_is_known_without_a_look_at_them(town: Town) -> None:
    assert asked(town, lambda: town.where) == []
    assert town.where is EventStatus.IN_FLIGHT


def test_a_dead_event_is_found_in_pages(town: Town) -> None:
    town.dead_letter()

    looks = asked(town, lambda: town.where)

    assert looks
    assert all(most and most <= PAGE for most in looks)
    assert town.where is EventStatus.DEAD


def test_a_done_event_is_found_in_pages(town: Town) -> None:
    town.bus.commit(town.delivery, Effects())

    assert all(most and most <= PAGE for most in asked(town, lambda: town.where))
    assert town.where is EventStatus.DONE


def test_whoever_looks_for_what_has_to_go_reads_pages(town: Town) -> None:
    town.dead_letter()
    wanted = ErasureTarget(scope=Scope(), session_id=town.event.session_id)

    looks = asked(town, lambda: town.erasure.find(wanted))

    assert all(most and most <= PAGE for most in looks)
    assert len(town.erasure.find(wanted).letters) == 1


def test_whoever_trims_reads_pages(town: Town) -> None:
    looks = asked(town, lambda: list(town.trimming.trim(SessionEnded, priority=Priority.LIVE, keep=1)))

    assert looks
    assert all(most is not None and most <= PAGE for most in looks)
