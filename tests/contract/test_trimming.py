"""What is promised of letting old events go, asked of each bus."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import buses
from fakeredis import FakeRedis

from nous.bus.accounting import EventStatus
from nous.bus.base import Committed, Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import RedisTrimming
from nous.domain.effects import Effects
from nous.domain.event_codec import decode
from nous.domain.events import Event, FactLearned, SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
AUDITOR = Subscription("auditor", SessionEnded)
KEEP = 3600.0
WIRE = Path(__file__).parents[1] / "wire/v1/fact_learned.json"


@pytest.fixture(autouse=True)
def long_after(world: Any) -> None:
    """Servers give entries their own time: by the clock of the bus it is long after that."""
    world.clock.now = time.time() + 10 * KEEP


@pytest.fixture
def fact_learned() -> Event:
    return decode(WIRE.read_bytes(), type_hint=FactLearned.type)


class Meddled:
    """A client after each of whose looks at a stream something *befalls*."""

    def __init__(self, client: Any, befalls: Callable[[], object]) -> None:
        self._client = client
        self._befalls = befalls

    def xrange(self, *arguments: Any, **how: Any) -> Any:
        found = self._client.xrange(*arguments, **how)
        self._befalls()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def trimmed(world: Any, *, keep: float = KEEP, priority: Priority = Priority.LIVE, kind: Any = SessionEnded) -> int:
    world.clock.now += 10 * KEEP
    return sum(world.trimming.trim(kind, priority=priority, keep=keep))


def length(world: Any) -> int:
    return world.delivery_stats.backlogs(SUMMARIZER)[0].length


def test_what_came_to_rest_long_ago_goes(world: Any, ended: Any) -> None:
    events = [ended(f"s{number}") for number in range(250)]
    world.publish(*events)
    for delivery in world.receive(limit=250):
        world.bus.commit(delivery, Effects())

    assert trimmed(world) == 249  # all but the last, by which a server knows how many are behind it
    assert trimmed(world) == 0
    assert length(world) == 1
    assert world.delivery_stats.locate(events[0].id, SUMMARIZER).where is EventStatus.UNKNOWN


def test_what_a_group_has_yet_to_begin_with_stays_for_it(world: Any, ended: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    for delivery in world.receive():
        world.bus.commit(delivery, Effects())
    world.receive(subscription=AUDITOR, limit=0)

    assert trimmed(world) == 0
    assert len(world.receive(subscription=AUDITOR)) == 2


def test_what_was_told_before_there_was_any_group_stays_for_those_that_are_known(client: Any, clock: Any) -> None:
    world = buses.on_redis(client, clock)
    world.foreign_append(b'{"data": {"session_id": "s1"}}')
    clock.now = time.time() + 10 * KEEP
    trimming = RedisTrimming(client, BusKeys("t"), subscriptions=[SUMMARIZER], clock=clock)

    assert sum(trimming.trim(SessionEnded, priority=Priority.LIVE, keep=KEEP)) == 0
    assert len(world.receive()) == 1


def test_what_is_pending_stays_and_what_is_around_it_goes(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{number}") for number in range(5)))
    deliveries = world.receive()
    for delivery in (*deliveries[:2], *deliveries[3:]):
        world.bus.commit(delivery, Effects())

    assert trimmed(world) == 3
    reopened = world.bus.open(deliveries[2].ref)
    assert reopened is not None
    assert reopened.event.session_id == "s2"
    assert world.bus.commit(reopened, Effects()) == Committed()
    assert trimmed(world) == 1


def test_what_a_letter_is_about_stays_until_that_is_dropped(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{number}") for number in range(120)))
    deliveries = world.receive(limit=120)
    for delivery in deliveries:
        world.bus.dead_letter(delivery.ref, progress=None, reason="cannot work")
    first, second, *others = world.dead.letters()
    for letter in others:
        world.dead.drop(letter)

    assert trimmed(world) == 117
    assert world.dead.redrive(second, SUMMARIZER)
    assert world.bus.commit(deliveries[1], Effects()) == Committed()
    world.dead.drop(first)
    assert trimmed(world) == 2
    assert world.account.discrepancy == 0


def test_what_is_buried_while_the_letters_are_read_stays(world: Any, ended: Any, client: Any) -> None:
    world.publish(ended("s1"), ended("s2"))
    buried, done = world.receive()
    world.bus.commit(done, Effects())
    meddled: Any = Meddled(client, lambda: world.bus.dead_letter(buried.ref, progress=None, reason="hopeless"))
    trimming = RedisTrimming(meddled, BusKeys("t"), clock=world.clock)
    world.clock.now += 10 * KEEP

    assert sum(trimming.trim(SessionEnded, priority=Priority.LIVE, keep=KEEP)) == 0
    [letter] = world.dead.letters()
    assert world.dead.redrive(letter, SUMMARIZER)
    assert world.bus.open(buried.ref) is not None


def test_what_nobody_consumes_goes_by_its_age_alone(world: Any, fact_learned: Any) -> None:
    world.bus.apply(Effects(events=(fact_learned,)))

    assert trimmed(world, kind=FactLearned, keep=1000 * KEEP) == 0
    assert trimmed(world, kind=FactLearned) == 1


def test_an_event_that_is_known_is_not_taken_again_after_it_went(world: Any, ended: Any) -> None:
    world.publish(ended(), ended("s2"))
    for delivery in world.receive():
        world.bus.commit(delivery, Effects())
    assert trimmed(world) == 1

    assert not world.publish(ended())[0].fresh
    assert world.receive() == []


def test_a_backlog_is_known_after_trimming(world: Any, ended: Any, client: Any) -> None:
    if isinstance(client, FakeRedis):
        pytest.skip("unlike a server, it tells no lag after any XDEL")
    world.publish(*(ended(f"s{number}") for number in range(6)))
    kept, *others = world.receive(limit=4)
    for delivery in others:
        world.bus.commit(delivery, Effects())

    assert trimmed(world) == 2
    world.publish(ended("s6"))
    live, _ = world.delivery_stats.backlogs(SUMMARIZER)
    assert (live.waiting, live.pending, live.length) == (3, 1, 5)
    assert world.bus.open(kept.ref) is not None
    assert [d.event.session_id for d in world.receive()] == ["s4", "s5", "s6"]
    assert world.delivery_stats.backlogs(SUMMARIZER)[0].waiting == 0
