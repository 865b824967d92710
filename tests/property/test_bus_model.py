"""In whichever order producers, workers, sweepers and people act, a bus on Redis answers as the one in memory does."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar
from uuid import UUID

import fakeredis
import redis
from builders import buses, servers
from builders.buses import LEASE, BusWorld
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nous.bus.accounting import DeadLetter, EventStatus
from nous.bus.base import DeadLetterKind, Delivery, DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import order
from nous.domain.effects import Effects, ReleaseTranscript
from nous.domain.event_codec import decode, encode
from nous.domain.events import Event, SessionEnded
from nous.domain.scope import Scope

T = TypeVar("T")
GROUPS = ("summarizer", "auditor")
EVENTS = tuple(
    decode(f'{{"id": "event {number}", "data": {{"session_id": "s{number}"}}}}', type_hint="session_ended")
    for number in range(6)
)
FOREIGN = (*map(encode, EVENTS[:2]), b"not json", b'{"type": "session_teleported", "data": {"session_id": "s1"}}')
REFUSED = Effects(writes=(ReleaseTranscript(scope=Scope(), dataref="redis:whatever"),))

groups = st.sampled_from(GROUPS)
priorities = st.sampled_from(Priority)
events = st.sampled_from(EVENTS)
picks = st.integers(0, 99)


def subscribed(group: str) -> Subscription:
    return Subscription(group, SessionEnded)


@dataclass(eq=False, slots=True)
class Hand:
    """Somebody who was given a delivery once, by each bus, and may come back to it at any time."""

    group: str
    deliveries: list[Delivery]


class BusMachine(RuleBasedStateMachine):
    """Each step is taken on every bus that *build* gives; all live by one clock."""

    @staticmethod
    def build() -> Sequence[BusWorld]:
        raise NotImplementedError

    @initialize(told=st.lists(events, min_size=2, max_size=5))
    def begin_anew(self, told: list[Event]) -> None:
        self.buses = self.build()
        self.hands: list[Hand] = []
        for event in told:
            self.publish(event=event, priority=Priority.LIVE)
        for group in GROUPS:
            self.receive(group=group, priority=Priority.LIVE, limit=2)

    @rule(event=events, priority=priorities)
    def publish(self, event: Event, priority: Priority) -> None:
        receipts = (each.bus.publish(event, priority=priority)[0] for each in self.buses)
        same((each.fresh, each.priority) for each in receipts)

    @rule(raw=st.sampled_from(FOREIGN), priority=priorities)
    def tell_from_afar(self, raw: bytes, priority: Priority) -> None:
        for each in self.buses:
            each.foreign_append(raw, priority=priority)

    @rule(group=groups, priority=priorities, limit=st.integers(1, 4))
    def receive(self, group: str, priority: Priority, limit: int) -> None:
        given = [each.receive(limit, subscribed(group), priority) for each in self.buses]
        same([delivery.event for delivery in deliveries] for deliveries in given)
        known = {(hand.group, hand.deliveries[0].ref) for hand in self.hands}
        assert not known & {(group, delivery.ref) for delivery in given[0]}
        self.hands += [Hand(group, list(each)) for each in zip(*given, strict=True)]

    @rule(group=groups, priority=priorities, follow=st.none() | events)
    def do_the_next(self, group: str, priority: Priority, follow: Event | None) -> None:
        """As nearly always: what is offered is begun, and committed."""
        before = len(self.hands)
        self.receive(group=group, priority=priority, limit=1)
        for pick in range(before, len(self.hands)):
            self.begin(pick=pick, behind=0)
            self.commit(pick=-1, follow=follow, skipped=None)

    @precondition(lambda self: self.hands)
    @rule(pick=picks, behind=st.integers(0, 1))
    def begin(self, pick: int, behind: int) -> None:
        hand = self._hand(pick)
        found = [each.bus.open(ref) for each, ref in self._each(hand)]
        attempt = found[0].state.attempt - behind if found[0] else 1
        begun = [each.bus.begin(ref, attempt=attempt, lease=LEASE) for each, ref in self._each(hand)]
        if same(bool(delivery) for delivery in begun):
            self.hands.append(replace(hand, deliveries=[delivery for delivery in begun if delivery]))

    @precondition(lambda self: self.hands)
    @rule(pick=picks, lease=st.sampled_from([1.0, 5 * LEASE]))
    def renew(self, pick: int, lease: float) -> None:
        for each, ref in self._each(self._hand(pick)):
            each.bus.renew([ref], lease=lease)

    @rule(seconds=st.sampled_from([1.0, LEASE / 2, 3 * LEASE]))
    def wait(self, seconds: float) -> None:
        for clock in {id(each.clock): each.clock for each in self.buses}.values():
            clock.now += seconds

    @precondition(lambda self: self.hands)
    @rule(pick=picks, costs=st.booleans())
    def fail(self, pick: int, *, costs: bool) -> None:
        def fail(bus: BusWorld, ref: DeliveryRef) -> bool:
            found = bus.bus.open(ref)
            if found is None:
                return False
            after = found.state.failed("oops") if costs else found.state.put_off("not now")
            return bus.bus.compare_and_set_state(ref, before=found.state, after=after, lease=LEASE)

        same(fail(each, ref) for each, ref in self._each(self._hand(pick)))

    @rule(group=groups)
    def sweep(self, group: str) -> None:
        """What is overdue is offered again, by one of two that try."""

        def sweep(bus: BusWorld) -> dict[UUID, tuple[int, int]]:
            offered: dict[UUID, tuple[int, int]] = {}
            for ref, state in bus.bus.overdue(subscribed(group), limit=1000):
                if found := bus.bus.open(ref):
                    after = state.resubmitted()
                    tried = [
                        bus.bus.compare_and_set_state(ref, before=state, after=after, lease=LEASE) for _ in range(2)
                    ]
                    assert tried == [True, False]
                    offered[found.event.id] = after.attempt, after.errors
            return offered

        same(map(sweep, self.buses))

    @precondition(lambda self: self.hands)
    @rule(pick=picks, follow=st.none() | events, skipped=st.sampled_from([None, "too short"]))
    def commit(self, pick: int, follow: Event | None, skipped: str | None) -> None:
        """By whoever was given it, however long ago, and by whomever it was taken over: the first one counts."""
        self._commit(pick, Effects(events=(follow,) if follow else (), skipped=skipped))

    @precondition(lambda self: self.hands)
    @rule(pick=picks)
    def be_refused(self, pick: int) -> None:
        self._commit(pick, REFUSED)

    @precondition(lambda self: self.hands)
    @rule(pick=picks, grave=st.sampled_from(DeadLetterKind), is_stale=st.booleans())
    def dead_letter(self, pick: int, grave: DeadLetterKind, *, is_stale: bool) -> None:
        def bury(bus: BusWorld, ref: DeliveryRef) -> bool:
            found = bus.bus.open(ref)
            state = replace(found.state, attempt=99) if found and is_stale else found and found.state
            return bus.bus.dead_letter(ref, progress=state, reason="no use", grave=grave)

        same(bury(each, ref) for each, ref in self._each(self._hand(pick)))

    @precondition(lambda self: self.buses[0].dead.count())
    @rule(pick=picks)
    def redrive(self, pick: int) -> None:
        for each, letter in self._letters(pick):
            tried = [each.dead.redrive(letter, subscribed(letter.group)) for _ in range(2)]
            assert tried == [True, False]

    @precondition(lambda self: self.buses[0].dead.count())
    @rule(pick=picks)
    def drop(self, pick: int) -> None:
        for each, letter in self._letters(pick):
            assert [each.dead.drop(letter), each.dead.drop(letter)] == [True, False]
            assert not each.dead.redrive(letter, subscribed(letter.group))

    @rule(priority=priorities)
    def trim(self, priority: Priority) -> None:
        self.wait(seconds=3 * LEASE)
        same(sum(each.trimming.trim(SessionEnded, priority=priority, keep=LEASE)) for each in self.buses)

    @invariant()
    def accounts_add_up(self) -> None:
        for group in GROUPS:
            assert same(each.delivery_stats.counters(subscribed(group)) for each in self.buses).discrepancy == 0

    @invariant()
    def every_event_is_where_it_should_be(self) -> None:
        for group, event in product(GROUPS, EVENTS):
            self._where(group, event)

    @invariant()
    def streams_are_as_long_as_they_should_be(self) -> None:
        for group in GROUPS:
            backlogs = [each.delivery_stats.backlogs(subscribed(group)) for each in self.buses]
            for first, *others in zip(*backlogs, strict=True):
                for other in others:
                    assert (other.length, other.pending) == (first.length, first.pending)
                    assert other.waiting in {None, first.waiting}

    def teardown(self) -> None:
        """Whatever was accepted is offered, when all has been read."""
        for group, priority in product(GROUPS, Priority):
            for _ in range(self._waiting(group, priority)):
                self.receive(group=group, priority=priority, limit=1)
        for group, event in product(GROUPS, EVENTS):
            offered = {hand.deliveries[0].event.id for hand in self.hands if hand.group == group}
            assert event.id in offered or self._where(group, event) is EventStatus.UNKNOWN

    def _waiting(self, group: str, priority: Priority) -> int:
        backlogs = self.buses[0].delivery_stats.backlogs(subscribed(group))
        return sum(each.waiting or 0 for each in backlogs if each.priority is priority)

    def _where(self, group: str, event: Event) -> EventStatus:
        return same(each.delivery_stats.locate(event.id, subscribed(group)).where for each in self.buses)

    def _commit(self, pick: int, effects: Effects) -> None:
        hand = self._hand(pick)
        same(type(each.bus.commit(given, effects)) for each, given in zip(self.buses, hand.deliveries, strict=True))

    def _hand(self, pick: int) -> Hand:
        return self.hands[pick % len(self.hands)]

    def _each(self, hand: Hand) -> Iterator[tuple[BusWorld, DeliveryRef]]:
        return zip(self.buses, (delivery.ref for delivery in hand.deliveries), strict=True)

    def _letters(self, pick: int) -> Iterator[tuple[BusWorld, DeadLetter]]:
        """The same letter of each bus."""
        all_ = [
            sorted(each.dead.letters(), key=lambda letter: (letter.group, letter.priority, order(letter.entry)))
            for each in self.buses
        ]
        same([(each.group, each.letter_kind, each.attempts, each.event_id) for each in letters] for letters in all_)
        return zip(self.buses, (letters[pick % len(letters)] for letters in all_), strict=True)


def same(answers: Iterable[T]) -> T:
    """What every bus has answered."""
    first, *others = answers
    assert all(other == first for other in others), (first, *others)
    return first


def check(clock_of: Callable[[], Any], client: redis.Redis) -> None:
    """Take the same steps on both, in a quarter of the examples: each has many."""

    def build() -> Sequence[BusWorld]:
        # Servers give entries their own time; by the clock of the buses it is later than that.
        client.flushall()
        clock = clock_of()
        clock.now = time.time() + 1_000_000
        return buses.in_memory(clock), buses.on_redis(client, clock)

    machine = type("Machine", (BusMachine,), {"build": staticmethod(build)})
    few = max(settings().max_examples // 4, 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=few, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


def test_a_bus_on_a_server_does_what_the_one_in_memory_does(clock: Any) -> None:
    with servers.running() as url, servers.emptied(url) as client:
        check(type(clock), client)


def test_a_bus_on_the_fake_does_what_the_one_in_memory_does(clock: Any) -> None:
    check(type(clock), fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
