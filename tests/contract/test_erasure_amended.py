"""An entry from which something is taken out stays what it was for each group: done, dead, in hand or yet to come."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest
import redis
from builders.episodes import episode
from builders.waiting import wait_until

from nous.bus.accounting import EventStatus
from nous.bus.base import Committed, Delivery, Duplicate, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact
from nous.domain.event_codec import encode
from nous.domain.events import NAMESPACE, EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
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
        self.erasure = RedisBusErasure(client, KEYS, marker_ttl=60)

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
        wanted = ErasureTarget(scope=HOME, forms=forms)
        self.erasure.erase(self.erasure.find(wanted))
        assert self.erasure.find(wanted).entries == ()

    def forget_session(self, session: str) -> None:
        self.erasure.erase(self.erasure.find(ErasureTarget(scope=HOME, session_id=session)))

    def where(self, event: EpisodeSummarized, group: Subscription) -> EventStatus:
        return self.delivery_stats.locate(event.id, group).where

    def check(self) -> None:
        assert [self.delivery_stats.counters(group).discrepancy for group in ALL] == [0] * len(ALL)

    def at_rest(self) -> None:
        """Let all groups finish all there is; then nothing of it is left behind."""
        for group in ALL:
            for delivery in self.receive(group, 100):
                self.bus.commit(delivery, Effects())
            assert self.delivery_stats.counters(group).in_flight == 0
            assert not self.client.exists(KEYS.progress(group.group))
        self.check()


@pytest.fixture
def street(client: redis.Redis) -> Street:
    return Street(client)


def summarized(session: str = "s1", *texts: str) -> EpisodeSummarized:
    facts = tuple(CandidateFact(text=text) for text in texts or ("planted", "Tim likes tea"))
    cause = SessionEnded(
        id=uuid5(NAMESPACE, session),
        time=NOON,
        source="tests",
        scope=HOME,
        agent_id="a",
        session_id=session,
        trace_id=UUID(int=1),
    )
    kept = replace(episode(session, scope=HOME), candidate_facts=facts)
    return announcement(kept, cause=cause, by="tests", at=NOON)


def texts_of(deliveries: Sequence[Delivery]) -> list[list[str]]:
    events = [each.event for each in deliveries]
    return [[fact.text for fact in event.candidate_facts] for event in events if isinstance(event, EpisodeSummarized)]


def test_each_group_stands_with_an_amended_entry_as_it_stood_with_the_old_one(street: Street) -> None:
    event = summarized()
    street.bus.publish(event)
    in_hand = street.live()

    street.forget("planted")

    assert street.bus.commit(in_hand, Effects()) == Duplicate()
    stood = {group: street.where(event, group) for group in ALL}
    assert stood == {
        DONE: EventStatus.DONE,
        DEAD: EventStatus.DEAD,
        IN_HAND: EventStatus.WAITING,
        LATE: EventStatus.WAITING,
    }
    street.check()
    assert [texts_of(street.receive(group)) for group in (DONE, DEAD)] == [[], []]
    for group in (IN_HAND, LATE):
        [delivery] = street.receive(group)
        assert (delivery.event.id, texts_of([delivery])) == (event.id, [["Tim likes tea"]])
        assert street.bus.commit(delivery, Effects()) == Committed()
        account = street.delivery_stats.counters(group)
        assert (account.received, account.done, account.erased) == (2, 1, 1)
    street.at_rest()


def test_an_amended_entry_with_which_all_had_finished_stays_and_is_forgotten_with_its_session(street: Street) -> None:
    event = summarized()
    street.bus.publish(event)
    street.at_rest()

    street.forget("planted")
    street.at_rest()

    assert [account.done for account in map(street.delivery_stats.counters, ALL)] == [1] * len(ALL)
    assert list(street.delivery_stats.events_of("s1", HOME, EpisodeSummarized)) == [event.id]
    assert not street.bus.publish(event)[0].fresh
    street.forget_session("s1")
    assert street.client.xlen(STREAM) == 0
    assert street.bus.publish(event)[0].fresh
    street.at_rest()


def test_who_has_finished_with_the_old_entry_and_not_with_what_followed_is_not_offered_the_new_one(
    street: Street,
) -> None:
    first, second = summarized(), summarized("s2", "the shop is shut")
    street.bus.publish(first, second)
    street.live()

    street.forget("planted")
    street.forget("tim likes tea")

    assert texts_of(street.receive(DONE)) == [["the shop is shut"]]
    assert texts_of(street.receive(LATE)) == [["the shop is shut"], []]
    for group in (DONE, LATE):
        for ref, progress in street.bus.overdue(group, limit=10):
            assert street.bus.open(ref), progress
    street.forget_session("s1")
    street.forget_session("s2")
    street.at_rest()


def test_an_amended_entry_is_where_it_was_also_for_groups_that_have_something_else_before_it(street: Street) -> None:
    first, second = summarized(), summarized("s2", "the shop is shut")
    street.bus.publish(first, second)
    street.live()

    street.forget("planted")

    assert [street.where(first, group) for group in (DONE, DEAD)] == [EventStatus.DONE, EventStatus.DEAD]
    assert [street.where(first, group) for group in (IN_HAND, LATE)] == [EventStatus.WAITING] * 2
    assert [street.where(second, group) for group in ALL] == [EventStatus.WAITING] * len(ALL)
    street.dead.redrive(street.dead.letters()[0], DEAD)
    assert street.where(first, DEAD) == EventStatus.IN_FLIGHT


def test_a_letter_about_an_amended_entry_is_redriven_and_only_what_was_forgotten_is_gone(street: Street) -> None:
    street.bus.publish(summarized(), summarized("s2", "the shop is shut"))
    street.live()
    street.forget("planted")
    [letter] = street.dead.letters()
    assert (letter.reason, letter.session_id, letter.group) == ("cannot work", "s1", "dead")

    assert street.dead.redrive(letter, DEAD)

    street.check()
    [(ref, _)] = street.bus.overdue(DEAD, limit=10)
    opened = street.bus.open(ref)
    assert opened
    assert texts_of([opened]) == [["Tim likes tea"]]
    assert texts_of(street.receive(DEAD)) == [["the shop is shut"]]
    assert street.bus.claim_unleased(DEAD, priority=Priority.LIVE) == 0
    assert street.bus.commit(opened, Effects()) == Committed()
    account = street.delivery_stats.counters(DEAD)
    assert (account.received, account.done, account.dead, account.in_flight) == (2, 1, 0, 1)


def test_a_letter_about_an_amended_entry_keeps_its_time_and_its_place(street: Street) -> None:
    street.bus.publish(summarized(), summarized("s2", "the shop is shut"))
    street.live()
    [letter] = street.dead.letters()
    wait_until(lambda: datetime.now(UTC) > letter.at + timedelta(milliseconds=2), "a moment to pass")
    [other] = street.receive(DEAD)
    street.bus.dead_letter(other.ref, progress=None, reason="cannot work")

    street.forget("planted")
    street.forget("tim likes tea")

    first, second = street.dead.letters()
    assert (first.session_id, first.at) == ("s1", letter.at)
    assert (second.session_id, second.entry) == ("s2", other.ref.entry)


def test_a_letter_that_is_redriven_and_amended_again_is_offered_to_its_group(street: Street) -> None:
    street.bus.publish(summarized(), summarized("s2", "the shop is shut"))
    street.live()
    street.forget("planted")
    street.dead.redrive(street.dead.letters()[0], DEAD)

    street.forget("tim likes tea")

    assert texts_of(street.receive(DEAD)) == [["the shop is shut"], []]
    account = street.delivery_stats.counters(DEAD)
    assert (account.received, account.dead, account.erased, account.in_flight) == (3, 0, 1, 2)
    street.check()


def test_a_letter_goes_with_the_session_that_was_amended_before(street: Street) -> None:
    street.bus.publish(summarized())
    street.live()
    street.forget("planted")

    street.forget_session("s1")

    assert street.dead.letters() == []
    street.at_rest()


def test_an_event_that_a_foreign_producer_told_twice_is_offered_once_when_it_is_amended(street: Street) -> None:
    event = summarized()
    street.bus.publish(event)
    street.client.xadd(STREAM, {"event": encode(event)})
    street.forget("planted")

    for group in ALL:
        assert texts_of(street.receive(group)) == [["Tim likes tea"]]
    street.check()


def test_who_reads_a_stream_past_the_bus_is_not_given_twice_what_was_done(street: Street) -> None:
    street.bus.publish(summarized(), summarized("s2", "the shop is shut"))
    street.live()
    street.forget("planted")

    street.client.xreadgroup("done", "somebody", {STREAM: ">"})

    assert street.bus.claim_unleased(DONE, priority=Priority.LIVE) == 1
    account = street.delivery_stats.counters(DONE)
    assert (account.received, account.done, account.in_flight, account.discrepancy) == (2, 1, 1, 0)


def test_a_group_that_somebody_has_set_beyond_the_end_is_in_nobody_s_way(street: Street) -> None:
    street.bus.publish(summarized())
    street.at_rest()
    street.client.xgroup_setid(STREAM, "done", "99999999999999-0")

    street.forget("planted")

    assert not street.client.exists(KEYS.progress("done"))
    assert street.client.xlen(STREAM) == 1
