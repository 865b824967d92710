"""Contract of a bus: dead letters, counters, where an event is, and waking blocked readers."""

import random
import threading
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
import redis
from builders.waiting import wait_until

from nous.bus.accounting import EventStatus
from nous.bus.base import Committed, DeadLetterKind, Duplicate, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.event_codec import LARGEST
from nous.domain.events import JobDeadLettered, SessionEnded
from nous.domain.scope import NO_SESSION, Scope

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
AUDITOR = Subscription("auditor", SessionEnded)
LEASE = 60.0


def test_a_buried_delivery_leaves_a_letter_and_is_not_pending(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    assert world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="cannot work")

    [letter] = world.dead.letters()
    assert (letter.reason, letter.session_id, letter.letter_kind) == ("cannot work", "s1", DeadLetterKind.DEAD)
    assert world.account.dead == 1
    assert world.account.in_flight == 0
    assert world.bus.commit(delivery, Effects()) == Duplicate()


def test_a_delivery_that_somebody_else_changed_is_not_buried(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.compare_and_set_state(delivery.ref, before=delivery.state, after=delivery.state.begun(), lease=LEASE)

    assert not world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="stale")
    assert world.dead.letters() == []


def test_what_is_done_is_not_buried(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    assert not world.bus.dead_letter(delivery.ref, progress=None, reason="too late")
    assert (world.account.done, world.account.dead, world.account.discrepancy) == (1, 0, 0)
    assert world.dead.letters() == []


def test_a_redriven_delivery_is_pending_again_for_its_group_alone(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.receive(subscription=AUDITOR)
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="cannot work")
    [letter] = world.dead.letters()

    assert world.dead.redrive(letter, SUMMARIZER)

    world.clock.now += 1
    assert [ref for ref, _ in world.bus.overdue(SUMMARIZER, limit=10)] == [delivery.ref]
    assert world.receive(subscription=AUDITOR) == []
    assert world.account.dead == 0
    assert world.account.discrepancy == 0
    assert world.bus.commit(delivery, Effects()) == Committed()
    assert not world.dead.redrive(letter, SUMMARIZER)


def test_a_foreign_producer_may_say_the_least(world: Any) -> None:
    world.foreign_append(b'{"data":{"session_id":"s9","transcript":"User: hi\\n\\nAssistant: hello"}}')

    [delivery] = world.receive()

    assert isinstance(delivery.event, SessionEnded)
    assert delivery.event.session_id == "s9"
    assert delivery.event.trace_id == delivery.event.id


def test_a_foreign_producer_that_repeats_itself_said_one_thing(world: Any) -> None:
    for _ in range(3):
        world.foreign_append(b'{"data":{"session_id":"s9","transcript":"User: hi"}}')

    assert len(world.receive()) == 1
    assert world.account.skipped == {"published twice": 2}
    assert world.account.discrepancy == 0


@pytest.mark.parametrize(
    ("raw", "grave"),
    [
        (b"not json", DeadLetterKind.DEAD),
        (b'{"data":{"transcript":"User: hi"}}', DeadLetterKind.DEAD),
        (b'{"type":"session_teleported","data":{"session_id":"s1"}}', DeadLetterKind.PARKED),
        (b'{"dataschema":"urn:nous:session_ended:99","data":{"session_id":"s1"}}', DeadLetterKind.PARKED),
    ],
)
def test_what_cannot_be_read_is_set_aside_with_the_reason_and_told_of_without_a_session(
    world: Any, ended: Any, raw: bytes, grave: DeadLetterKind
) -> None:
    world.foreign_append(raw)
    world.publish(ended("neighbour"))

    assert [d.event.session_id for d in world.receive()] == ["neighbour"]
    [letter] = world.dead.letters()
    assert letter.letter_kind is grave
    assert letter.reason
    told = [each.event.session_id for each in world.receive(subscription=Subscription("watcher", JobDeadLettered))]
    assert told == ([NO_SESSION] if grave is DeadLetterKind.DEAD else [])
    assert world.account.discrepancy == 0


def test_the_whereabouts_of_an_event_are_known_at_each_step(world: Any, ended: Any) -> None:
    event = ended()
    seen = [world.delivery_stats.locate(event.id, SUMMARIZER).where]
    world.publish(event)
    seen.append(world.delivery_stats.locate(event.id, SUMMARIZER).where)
    [delivery] = world.receive()
    seen.append(world.delivery_stats.locate(event.id, SUMMARIZER).where)
    world.bus.commit(delivery, Effects())
    seen.append(world.delivery_stats.locate(event.id, SUMMARIZER).where)

    assert seen == [EventStatus.UNKNOWN, EventStatus.WAITING, EventStatus.IN_FLIGHT, EventStatus.DONE]


def test_of_an_event_that_waits_it_is_known_when_it_is_tried_again(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    running = delivery.state.begun()
    world.bus.compare_and_set_state(delivery.ref, before=delivery.state, after=running, lease=60)
    at_first = world.delivery_stats.locate(delivery.event.id, SUMMARIZER).next_try
    world.bus.compare_and_set_state(delivery.ref, before=running, after=running.put_off("the model is out"), lease=600)

    location = world.delivery_stats.locate(delivery.event.id, SUMMARIZER)

    assert at_first is None
    assert location.reason == "attempt 1 is waiting, 0 errors (the model is out)"
    assert location.next_try is not None


def test_the_events_of_a_session_are_found_in_its_scope_alone(world: Any, ended: Any) -> None:
    first, second, other = ended("s1", "User: a"), ended("s1", "User: b"), ended("s2")
    world.publish(first, other, second)

    assert world.delivery_stats.events_of("s1", Scope(), SessionEnded) == [first.id, second.id]
    assert world.delivery_stats.events_of("s1", Scope(project="another"), SessionEnded) == []


def test_nothing_waits_in_a_backlog_that_somebody_has_cut_off(world: Any, ended: Any, client: Any) -> None:
    world.publish(*(ended(f"s{i}") for i in range(3)))
    world.receive(limit=1)

    client.xtrim("t:events:session_ended", maxlen=0, approximate=False)

    assert world.delivery_stats.backlogs(SUMMARIZER)[0].waiting == 0


def test_an_entry_whose_id_is_no_time_is_received_and_shown(world: Any) -> None:
    world.foreign_append(b'{"data":{"session_id":"s9","transcript":"User: hi"}}', entry="1795307158972000000-0")

    assert [d.event.session_id for d in world.receive()] == ["s9"]
    assert world.delivery_stats.backlogs(SUMMARIZER)[0].oldest_pending is not None


def test_the_event_behind_a_ticket_is_told_whatever_became_of_it(world: Any, ended: Any) -> None:
    event = ended()
    world.publish(event)
    [delivery] = world.receive()
    assert world.delivery_stats.event(delivery.ref) == event
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="cannot work")

    assert world.delivery_stats.event(delivery.ref) == event
    assert world.delivery_stats.event(replace(delivery.ref, entry="1-1")) is None


KEYS = BusKeys("t")
LOOKS = 1000
HANDS = 8


class Work:
    """Random operations of one thread on the deliveries."""

    def __init__(self, client: Any, ended: Callable[..., SessionEnded], seed: int) -> None:
        self._client = client
        self._bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS)
        self._dead = RedisDeadLetterQueue(client, KEYS)
        self._ended, self._seed = ended, seed
        self._random = random.Random(seed)
        self.did = Counter[str]()

    def __call__(self, is_over: threading.Event) -> None:
        deeds = (self.commit, self.dead_letter, self.redrive, self.erase)
        number = 0
        while not is_over.is_set():
            number += 1
            self._bus.publish(*(self._ended(f"s-{self._seed}-{number}-{each}") for each in range(4)))
            deed = self._random.choices(deeds, weights=(8, 3, 3, 1))[0]
            deed()
            self.did[deed.__name__] += 1

    def commit(self) -> None:
        for delivery in self._received():
            self._bus.commit(delivery, Effects(skipped=self._random.choice([None, "too short"])))

    def dead_letter(self) -> None:
        for delivery in self._received():
            grave = self._random.choice(list(DeadLetterKind))
            self._bus.dead_letter(delivery.ref, progress=None, reason="x", grave=grave)

    def redrive(self) -> None:
        for letter in self._dead.letters()[:5]:
            if self._dead.payload(letter):
                self._dead.redrive(letter, SUMMARIZER)

    def erase(self) -> None:
        erasure = RedisBusErasure(self._client, KEYS)
        erasure.erase(erasure.find(ErasureTarget(scope=Scope(), session_id=f"s-{self._seed}-1-0")))

    def _received(self) -> list[Any]:
        return list(self._bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=5, lease=60))


def test_it_adds_up_whenever_it_is_looked_at(redis_client: redis.Redis, ended: Any) -> None:
    is_over = threading.Event()
    work = [Work(redis_client, ended, seed) for seed in range(HANDS)]
    threads = [threading.Thread(target=each, args=(is_over,)) for each in work]
    delivery_stats = RedisDeliveryStats(redis_client, KEYS)

    for thread in threads:
        thread.start()
    try:
        balances = Counter(delivery_stats.counters(SUMMARIZER).discrepancy for _ in range(LOOKS))
    finally:
        is_over.set()
        for thread in threads:
            thread.join()

    assert balances == {0: LOOKS}
    assert delivery_stats.counters(SUMMARIZER).received > 0
    done = sum((each.did for each in work), Counter[str]())
    assert done.keys() == {"commit", "dead_letter", "redrive", "erase"}


READER = Subscription("reader", SessionEnded)
STREAM = "nous:events:session_ended"
LONG = 60.0
"""Timeout of a blocking wait, in seconds: a reader that is woken returns long before."""

_MADE_THERE = "return redis.call('XADD', KEYS[1], '*', 'event', string.rep('x', ARGV[1]))"


@pytest.fixture
def bus(redis_client: redis.Redis) -> RedisBus:
    bus = RedisBus(redis_client, plan_of=lambda _: CommitPlan())
    bus.receive(READER, priority=Priority.LIVE, limit=1, lease=60)
    return bus


def is_woken(bus: RedisBus, client: Any, done: Callable[[], object]) -> bool:
    """Return whether a blocked reader returns after *done* was called."""
    how: dict[str, Any] = {"priorities": tuple(Priority), "seconds": LONG}
    waiting = Thread(target=bus.wait, args=(READER,), kwargs=how, daemon=True)
    waiting.start()
    wait_until(lambda: client.info("clients")["blocked_clients"] == 1, "a reader to block")
    done()
    waiting.join(LONG / 2)
    return not waiting.is_alive()


@pytest.mark.parametrize("priority", Priority)
def test_who_waits_is_woken_by_an_event_of_either_lane(
    bus: RedisBus, redis_client: redis.Redis, ended: Any, priority: Priority
) -> None:
    assert is_woken(bus, redis_client, lambda: bus.publish(ended(), priority=priority))

    assert len(bus.receive(READER, priority=priority, limit=9, lease=60)) == 1


def test_what_is_larger_than_an_event_wakes_who_waits_and_is_not_read(bus: RedisBus, redis_client: redis.Redis) -> None:
    run: Any = redis_client.eval
    tracemalloc.start()
    try:
        assert is_woken(bus, redis_client, lambda: run(_MADE_THERE, 1, STREAM, 4 * LARGEST))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < LARGEST / 4
    assert bus.receive(READER, priority=Priority.LIVE, limit=9, lease=60) == []
    entries: Any = redis_client.xrange("nous:dead")
    assert len(entries) == 1
