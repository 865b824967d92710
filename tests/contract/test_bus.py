"""What a bus promises, asked of each one: in memory, on fakeredis, and on a real server."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid5

import fakeredis
import pytest
import redis

from nous.bus.base import Bus, Committed, Duplicate, Grave, Lane, Receipt, Subscription
from nous.bus.keys import BusKeys
from nous.bus.ledger import Account, DeadLetters, Ledger, Whereabouts
from nous.bus.memory import MemoryBus
from nous.bus.plan import Plan
from nous.bus.progress import Progress, State
from nous.bus.redis import RedisBus
from nous.bus.redis_dead import RedisDeadLetters
from nous.bus.redis_ledger import RedisLedger
from nous.effects import Effects
from nous.errors import NotFound
from nous.events import NAMESPACE, Event, SessionEnded
from nous.scope import Scope

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
AUDITOR = Subscription("auditor", SessionEnded)
LEASE = 60.0


@dataclass
class Clock:
    """Seconds since the epoch, moved by hand."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """A bus, its books, and the clock it lives by."""

    bus: Bus
    ledger: Ledger
    dead: DeadLetters
    clock: Clock
    foreign_append: Callable[[bytes], object]

    def receive(self, limit: int = 10, subscription: Subscription = SUMMARIZER, lane: Lane = Lane.LIVE) -> list[Any]:
        return list(self.bus.receive(subscription, lane=lane, limit=limit, lease=LEASE))

    def publish(self, *events: Event) -> list[Receipt]:
        return list(self.bus.publish(*events))

    @property
    def account(self) -> Account:
        return self.ledger.account(SUMMARIZER)


def in_memory() -> World:
    clock = Clock()
    bus = MemoryBus(clock=clock)
    return World(bus, bus, bus, clock, partial(bus.append, "session_ended"))


def on_redis(client: redis.Redis) -> World:
    clock = Clock()
    keys = BusKeys("t")
    bus = RedisBus(client, plan_of=lambda _: Plan(), keys=keys, clock=clock)

    def append(raw: bytes) -> None:
        client.xadd(keys.stream("session_ended", Lane.LIVE), {"event": raw})

    return World(bus, RedisLedger(client, keys), RedisDeadLetters(client, keys, clock=clock), clock, append)


@pytest.fixture(params=["memory", "fakeredis", "server"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    match request.param:
        case "memory":
            yield in_memory()
        case "fakeredis":
            yield on_redis(fakeredis.FakeRedis(protocol=2))
        case _:
            yield on_redis(request.getfixturevalue("redis_client"))


def ended(session: str = "s1", text: str = "User: hi") -> SessionEnded:
    event_id = uuid5(NAMESPACE, f"{session}\n{text}")
    return SessionEnded(
        id=event_id,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        source="tests",
        scope=Scope(),
        agent_id="a",
        session_id=session,
        trace_id=event_id,
        transcript=text,
    )


def test_what_was_published_is_received_as_it_was(world: World) -> None:
    event = ended()
    world.publish(event)

    assert [delivery.event for delivery in world.receive()] == [event]


def test_the_same_event_published_thrice_is_one_event(world: World) -> None:
    receipts = [world.publish(ended())[0] for _ in range(3)]

    assert [receipt.fresh for receipt in receipts] == [True, False, False]
    assert len({receipt.entry for receipt in receipts}) == 1
    assert len(world.receive()) == 1


def test_a_group_created_late_still_gets_the_past(world: World) -> None:
    world.publish(ended("s1"), ended("s2"))
    world.receive()

    late = world.receive(subscription=AUDITOR)

    assert [delivery.event.session_id for delivery in late] == ["s1", "s2"]


def test_an_event_is_offered_to_a_group_once_and_oldest_first(world: World) -> None:
    world.publish(*(ended(f"s{i}") for i in range(5)))

    offered = [delivery.event.session_id for _ in range(4) for delivery in world.receive(limit=2)]

    assert offered == ["s0", "s1", "s2", "s3", "s4"]


def test_bulk_work_travels_in_a_lane_of_its_own(world: World) -> None:
    world.bus.publish(ended("past"), lane=Lane.BULK)
    world.bus.publish(ended("now"))

    assert [d.event.session_id for d in world.receive()] == ["now"]
    assert [d.event.session_id for d in world.receive(lane=Lane.BULK)] == ["past"]


def test_a_commit_publishes_what_follows_and_is_done(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    follow_up = ended("follow-up")

    verdict = world.bus.commit(delivery, Effects(events=(follow_up,)))

    assert verdict == Committed()
    assert [d.event for d in world.receive()] == [follow_up]
    assert world.account.done == 1
    assert world.bus.open(delivery.ticket) is None


def test_a_second_commit_of_a_delivery_writes_nothing(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    verdict = world.bus.commit(delivery, Effects(events=(ended("twice"),)))

    assert verdict == Duplicate()
    assert world.receive() == []
    assert world.account.done == 1


def test_an_event_that_two_attempts_emit_is_emitted_once(world: World) -> None:
    world.publish(ended("s1"), ended("s2"))
    follow_up = ended("follow-up")

    for delivery in world.receive():
        world.bus.commit(delivery, Effects(events=(follow_up,)))

    assert len(world.receive()) == 1


def test_a_skipped_event_is_counted_under_its_reason(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.commit(delivery, Effects(skipped="too short"))

    assert world.account.skipped == {"too short": 1}
    assert world.account.balance == 0


def test_a_delivery_is_overdue_only_once_its_lease_has_ended(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    assert world.bus.overdue(SUMMARIZER, limit=10) == []
    world.clock.now += LEASE + 1

    assert world.bus.overdue(SUMMARIZER, limit=10) == [(delivery.ticket, Progress())]


def test_a_renewed_lease_ends_later_and_never_earlier(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.renew([delivery.ticket], lease=10 * LEASE)
    world.bus.renew([delivery.ticket], lease=1)
    world.clock.now += 2 * LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_renewing_does_not_bring_back_what_was_committed(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    world.bus.renew([delivery.ticket], lease=1)
    world.clock.now += LEASE

    assert world.bus.overdue(SUMMARIZER, limit=10) == []


def test_of_two_that_amend_the_same_progress_one_succeeds(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    before, after = delivery.progress, delivery.progress.begun()

    won = [world.bus.amend(delivery.ticket, before=before, after=after, lease=LEASE) for _ in range(2)]

    assert won == [True, False]
    reopened = world.bus.open(delivery.ticket)
    assert reopened is not None
    assert reopened.progress.state is State.RUNNING


def test_nothing_amends_what_was_committed(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects())

    assert not world.bus.amend(delivery.ticket, before=Progress(), after=Progress().begun(), lease=LEASE)
    assert world.account.in_flight == 0


def test_a_buried_delivery_leaves_a_letter_and_is_not_pending(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    assert world.bus.bury(delivery.ticket, progress=delivery.progress, reason="cannot work")

    [letter] = world.dead.letters()
    assert (letter.reason, letter.session_id, letter.grave) == ("cannot work", "s1", Grave.DEAD)
    assert world.account.dead == 1
    assert world.account.in_flight == 0
    assert world.bus.commit(delivery, Effects()) == Duplicate()


def test_a_delivery_that_somebody_else_changed_is_not_buried(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.amend(delivery.ticket, before=delivery.progress, after=delivery.progress.begun(), lease=LEASE)

    assert not world.bus.bury(delivery.ticket, progress=delivery.progress, reason="stale")
    assert world.dead.letters() == []


def test_a_redriven_delivery_is_pending_again_for_its_group_alone(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.receive(subscription=AUDITOR)
    world.bus.bury(delivery.ticket, progress=delivery.progress, reason="cannot work")
    [letter] = world.dead.letters()

    assert world.dead.redrive(letter, SUMMARIZER)

    world.clock.now += 1
    assert [ticket for ticket, _ in world.bus.overdue(SUMMARIZER, limit=10)] == [delivery.ticket]
    assert world.receive(subscription=AUDITOR) == []
    assert world.account.dead == 0
    assert world.account.balance == 0
    assert world.bus.commit(delivery, Effects()) == Committed()
    assert not world.dead.redrive(letter, SUMMARIZER)


def test_a_dropped_letter_is_gone_and_stays_counted(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.bury(delivery.ticket, progress=None, reason="cannot work")
    [letter] = world.dead.letters()

    assert world.dead.drop(letter)

    assert world.account.dead == 1
    with pytest.raises(NotFound):
        world.dead.find(letter.id)


def test_a_foreign_producer_may_say_the_least(world: World) -> None:
    world.foreign_append(b'{"data":{"session_id":"s9","transcript":"User: hi\\n\\nAssistant: hello"}}')

    [delivery] = world.receive()

    assert isinstance(delivery.event, SessionEnded)
    assert delivery.event.session_id == "s9"
    assert delivery.event.trace_id == delivery.event.id


def test_a_foreign_producer_that_repeats_itself_said_one_thing(world: World) -> None:
    for _ in range(3):
        world.foreign_append(b'{"data":{"session_id":"s9","transcript":"User: hi"}}')

    assert len(world.receive()) == 1
    assert world.account.skipped == {"published twice": 2}
    assert world.account.balance == 0


@pytest.mark.parametrize(
    ("raw", "grave"),
    [
        (b"not json", Grave.DEAD),
        (b'{"data":{"transcript":"User: hi"}}', Grave.DEAD),
        (b'{"type":"session_teleported","data":{"session_id":"s1"}}', Grave.PARKED),
        (b'{"dataschema":"urn:nous:session_ended:99","data":{"session_id":"s1"}}', Grave.PARKED),
    ],
)
def test_what_cannot_be_read_is_set_aside_with_the_reason(world: World, raw: bytes, grave: Grave) -> None:
    world.foreign_append(raw)
    world.publish(ended("neighbour"))

    assert [d.event.session_id for d in world.receive()] == ["neighbour"]
    [letter] = world.dead.letters()
    assert letter.grave is grave
    assert letter.reason
    assert world.account.balance == 0


def test_the_whereabouts_of_an_event_are_known_at_each_step(world: World) -> None:
    event = ended()
    seen = [world.ledger.locate(event.id, SUMMARIZER).where]
    world.publish(event)
    seen.append(world.ledger.locate(event.id, SUMMARIZER).where)
    [delivery] = world.receive()
    seen.append(world.ledger.locate(event.id, SUMMARIZER).where)
    world.bus.commit(delivery, Effects())
    seen.append(world.ledger.locate(event.id, SUMMARIZER).where)

    assert seen == [Whereabouts.UNKNOWN, Whereabouts.WAITING, Whereabouts.IN_FLIGHT, Whereabouts.DONE]


def test_a_dead_event_is_found_dead(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.bury(delivery.ticket, progress=None, reason="cannot work")

    assert world.ledger.locate(delivery.event.id, SUMMARIZER).where is Whereabouts.DEAD


def test_a_skipped_event_says_why(world: World) -> None:
    world.publish(ended())
    [delivery] = world.receive()
    world.bus.commit(delivery, Effects(skipped="too short"))

    location = world.ledger.locate(delivery.event.id, SUMMARIZER)

    assert (location.where, location.reason) == (Whereabouts.SKIPPED, "too short")


def test_the_events_of_a_session_are_found_in_its_scope_alone(world: World) -> None:
    first, second, other = ended("s1", "User: a"), ended("s1", "User: b"), ended("s2")
    world.publish(first, other, second)

    assert world.ledger.events_of("s1", Scope(), SessionEnded) == [first.id, second.id]
    assert world.ledger.events_of("s1", Scope(project="another"), SessionEnded) == []


def test_backlogs_tell_what_waits_and_what_is_pending(world: World) -> None:
    world.publish(*(ended(f"s{i}") for i in range(5)))
    world.receive(limit=2)

    live, bulk = world.ledger.backlogs(SUMMARIZER)

    assert (live.length, live.waiting, live.pending) == (5, 3, 2)
    assert live.oldest_pending is not None
    assert (bulk.length, bulk.pending) == (0, 0)


def test_waiting_ends_when_something_is_published(world: World) -> None:
    world.publish(ended())
    world.receive()

    world.bus.wait(SUMMARIZER, lanes=tuple(Lane), seconds=0.01)

    assert world.receive() == []


def test_effects_without_a_delivery_are_applied(world: World) -> None:
    assert world.bus.apply(Effects(events=(ended("learned by hand"),))) == Committed()
    assert len(world.receive()) == 1
