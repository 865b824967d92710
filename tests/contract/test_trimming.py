"""Stream trimming and amended entries, neither of which changes a consumer group's counts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from builders import buses
from builders.episodes import episode
from builders.events import event_of
from fakeredis import FakeRedis

from nous.bus.accounting import EventStatus
from nous.bus.base import Committed, Delivery, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import RedisTrimming
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact
from nous.domain.event_codec import decode
from nous.domain.events import EpisodeSummarized, Event, FactLearned, SessionEnded
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import mark_of
from nous.summary.decisions import announcement

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


HOME = Scope(project="home")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
KEYS = BusKeys("t")
DONE, DEAD, IN_HAND, LATE = (Subscription(name, EpisodeSummarized) for name in ("done", "dead", "in-hand", "late"))
ALL = (DONE, DEAD, IN_HAND, LATE)
STREAM = KEYS.stream(EpisodeSummarized.type, Priority.LIVE)


class Street:
    """A bus with four groups, of which each has come to another end with what was published."""

    def __init__(self, client: redis.Redis) -> None:
        self.client: Any = client
        self.bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS, subscriptions=ALL)
        self.delivery_stats, self.dead = RedisDeliveryStats(client, KEYS), RedisDeadLetterQueue(client, KEYS)
        self.erasure = RedisBusErasure(client, KEYS)

    def receive(self, group: Subscription, limit: int = 10) -> Sequence[Delivery]:
        return self.bus.receive(group, priority=Priority.LIVE, limit=limit, lease=60)

    def live(self) -> Delivery:
        """Let each group but the late one take the next; returns what is in hand."""
        [done] = self.receive(DONE, 1)
        self.bus.commit(done, Effects())
        [dead] = self.receive(DEAD, 1)
        self.bus.dead_letter(dead.ref, progress=dead.state, reason="cannot work")
        [in_hand] = self.receive(IN_HAND, 1)
        return in_hand

    def forget(self, *forms: str) -> None:
        wanted = ErasureTarget(scope=HOME, marks=frozenset(mark_of(HOME, form) for form in forms))
        self.erasure.erase(self.erasure.find(wanted))
        assert self.erasure.find(wanted).entries == []

    def where(self, event: EpisodeSummarized, group: Subscription) -> EventStatus:
        return self.delivery_stats.locate(event.id, group).where

    def check(self) -> None:
        assert [self.delivery_stats.counters(group).discrepancy for group in ALL] == [0] * len(ALL)


@pytest.fixture
def street(redis_client: redis.Redis) -> Street:
    return Street(redis_client)


def summarized(session: str = "s1", *texts: str) -> EpisodeSummarized:
    facts = tuple(CandidateFact(text=text) for text in texts or ("planted", "Tim likes tea"))
    cause = event_of(SessionEnded, session, scope=HOME, session_id=session)
    kept = replace(episode(session, scope=HOME), candidate_facts=facts)
    return announcement(kept, cause=cause, by="tests", at=NOON)


def texts_of(deliveries: Sequence[Delivery]) -> list[list[str]]:
    events = [each.event for each in deliveries]
    return [[fact.text for fact in event.candidate_facts] for event in events if isinstance(event, EpisodeSummarized)]


def test_each_group_stands_with_an_amended_entry_as_it_stood_with_the_old_one(street: Street) -> None:
    event, neighbour = summarized(), summarized("s2", "the shop is shut")
    street.bus.publish(event, neighbour)
    in_hand = street.live()
    before = {group: (street.where(event, group), street.delivery_stats.counters(group)) for group in ALL}
    [letter] = street.dead.letters()

    street.forget("planted")

    assert {group: (street.where(event, group), street.delivery_stats.counters(group)) for group in ALL} == before
    assert b"planted" not in street.client.dump(STREAM)
    assert street.dead.letters() == [letter]
    opened = street.bus.open(in_hand.ref)
    assert opened
    assert (opened.event.id, texts_of([opened])) == (event.id, [["Tim likes tea"]])
    assert texts_of(street.receive(LATE)) == [["Tim likes tea"], ["the shop is shut"]]
    assert street.dead.redrive(letter, DEAD)
    [(ref, _)] = street.bus.overdue(DEAD, limit=10)
    assert texts_of([opened for opened in [street.bus.open(ref)] if opened]) == [["Tim likes tea"]]
    for delivery in (in_hand, replace(in_hand, ref=ref)):
        assert street.bus.commit(delivery, Effects()) == Committed()
    street.check()


def test_what_two_amend_at_once_is_amended_by_both(street: Street, redis_client: redis.Redis) -> None:
    street.bus.publish(summarized(), summarized("s2", "the shop is shut", "Ann likes tea"))
    street.live()
    others = iter([street])

    class Overtaken(redis.Redis):
        """A client before whose copy takes the place of the stream another one, which saw no copy, amends it."""

        def register_script(self, script: Any) -> Any:
            if "Replace a stream by its copy" in script:
                for other in others:
                    copies: Any = {key: self.dump(key) for key in self.scan_iter(KEYS.aside(STREAM, "*"))}
                    other.forget("the shop is shut")
                    for key, copy in copies.items():
                        self.restore(key, 0, copy)
            return super().register_script(script)

    overtaken = Street(Overtaken(connection_pool=redis_client.connection_pool))

    overtaken.forget("planted")

    assert texts_of(street.receive(LATE)) == [["Tim likes tea"], ["Ann likes tea"]]
    street.check()
