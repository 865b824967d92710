"""An entry from which something is taken out stays what it was for each group: done, dead, in hand or yet to come."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from builders.episodes import episode
from builders.events import event_of

from nous.bus.accounting import EventStatus
from nous.bus.base import Committed, Delivery, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact
from nous.domain.events import EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import mark_of
from nous.summary.decisions import announcement

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
