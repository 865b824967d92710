"""In whichever order producers, workers, sweepers and people act, every bus answers as promised, and as the others."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar
from uuid import UUID

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
from nous.bus.base import Committed, Conflict, DeadLetterKind, Delivery, DeliveryRef, Duplicate, Priority, Subscription
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

    @property
    def name(self) -> tuple[str, str]:
        return self.group, self.deliveries[0].ref.name


class BusMachine(RuleBasedStateMachine):
    """Each step is taken on a bus on each of *clients*; all live by one clock.

    Beside them it is written down what they promise: which events are known, how many entries a priority has had and a
    group has read or missed, and how long each delivery is leased, by its group and its name on the first bus.
    """

    clients: Sequence[redis.Redis] = ()

    @initialize(told=st.lists(events, min_size=2, max_size=5))
    def begin_anew(self, told: list[Event]) -> None:
        for client in self.clients:
            client.flushall()
        self.now = time.time() + 1_000_000  # later than by the servers' own time, which they give entries
        self.buses = [buses.on_redis(client, lambda: self.now) for client in self.clients]
        self.hands: list[Hand] = []
        self.known: set[UUID] = set()
        self.appended: Counter[Priority] = Counter()
        self.read: Counter[tuple[str, Priority]] = Counter()
        self.missed: Counter[tuple[str, Priority]] = Counter()
        self.pending: dict[tuple[str, str], float] = {}
        for event in told:
            self.publish(event=event, priority=Priority.LIVE)
        for group in GROUPS:
            self.receive(group=group, priority=Priority.LIVE, limit=2)

    @rule(event=events, priority=priorities)
    def publish(self, event: Event, priority: Priority) -> None:
        receipts = (each.bus.publish(event, priority=priority)[0] for each in self.buses)
        fresh, _ = same((each.fresh, each.priority) for each in receipts)
        assert fresh == self._is_added(event, priority)

    @rule(raw=st.sampled_from(FOREIGN), priority=priorities)
    def tell_from_afar(self, raw: bytes, priority: Priority) -> None:
        for each in self.buses:
            each.foreign_append(raw, priority=priority)
        self.appended[priority] += 1

    @rule(group=groups, priority=priorities, limit=st.integers(1, 4))
    def receive(self, group: str, priority: Priority, limit: int) -> None:
        given = [each.receive(limit, subscribed(group), priority) for each in self.buses]
        same([delivery.event for delivery in deliveries] for deliveries in given)
        assert len(given[0]) <= limit
        assert not self._offered(group) & {delivery.event.id for delivery in given[0]}
        self.read[group, priority] += min(limit, self._waiting(group, priority))
        self.known |= {delivery.event.id for delivery in given[0]}
        for deliveries in zip(*given, strict=True):
            self.hands.append(Hand(group, list(deliveries)))
            self._lease(self.hands[-1])

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
        assert same(map(bool, found)) == (hand.name in self.pending)
        attempt = found[0].state.attempt - behind if found[0] else 1
        begun = [each.bus.begin(ref, attempt=attempt, lease=LEASE) for each, ref in self._each(hand)]
        if same(bool(delivery) for delivery in begun):
            self._lease(hand)
            self.hands.append(replace(hand, deliveries=[delivery for delivery in begun if delivery]))

    @precondition(lambda self: self.hands)
    @rule(pick=picks, lease=st.sampled_from([1.0, 5 * LEASE]))
    def renew(self, pick: int, lease: float) -> None:
        hand = self._hand(pick)
        for each, ref in self._each(hand):
            each.bus.renew([ref], lease=lease)
        if hand.name in self.pending:
            self.pending[hand.name] = max(self.pending[hand.name], self.now + lease)

    @rule(seconds=st.sampled_from([1.0, LEASE / 2, 3 * LEASE]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.hands)
    @rule(pick=picks, costs=st.booleans())
    def fail(self, pick: int, *, costs: bool) -> None:
        def fail(bus: BusWorld, ref: DeliveryRef) -> bool:
            found = bus.bus.open(ref)
            if found is None:
                return False
            after = found.state.failed("oops") if costs else found.state.put_off("not now")
            return bus.bus.compare_and_set_state(ref, before=found.state, after=after, lease=LEASE)

        hand = self._hand(pick)
        assert same(fail(each, ref) for each, ref in self._each(hand)) == (hand.name in self.pending)
        if hand.name in self.pending:
            self._lease(hand)

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

        late = {name for name, ends in self.pending.items() if name[0] == group and ends <= self.now}
        overdue = self.buses[0].bus.overdue(subscribed(group), limit=1000)
        assert {(group, ref.name) for ref, _ in overdue} == late
        same(map(sweep, self.buses))
        is_open = {(group, ref.name): self.buses[0].bus.open(ref) is not None for ref, _ in overdue}
        self.pending |= dict.fromkeys(is_open, self.now + LEASE)
        for name in late:
            if not is_open[name]:  # it cannot be decoded, as before it was redriven
                del self.pending[name]

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

        hand = self._hand(pick)
        buried = same(bury(each, ref) for each, ref in self._each(hand))
        assert buried == (hand.name in self.pending and not is_stale)
        if buried:
            del self.pending[hand.name]

    @precondition(lambda self: self.buses[0].dead.count())
    @rule(pick=picks)
    def redrive(self, pick: int) -> None:
        letters = list(self._letters(pick))
        first = letters[0][1]
        self.pending[first.group, f"{first.priority}/{first.entry}"] = self.now
        for each, letter in letters:
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
        gone = same(sum(each.trimming.trim(SessionEnded, priority=priority, keep=LEASE)) for each in self.buses)
        for group in GROUPS:
            if (group, priority) not in self.read:  # trimming does not wait for one that has never asked
                self.missed[group, priority] += gone

    @invariant()
    def accounts_add_up(self) -> None:
        for group in GROUPS:
            counters = same(each.delivery_stats.counters(subscribed(group)) for each in self.buses)
            assert counters.discrepancy == 0
            assert counters.received == sum(self.read[group, priority] for priority in Priority)
            assert counters.in_flight == sum(name[0] == group for name in self.pending)

    @invariant()
    def every_event_is_where_it_should_be(self) -> None:
        for group, event in product(GROUPS, EVENTS):
            found = [each.delivery_stats.locate(event.id, subscribed(group)) for each in self.buses]
            is_pending = bool(ref := found[0].ref) and (group, ref.name) in self.pending
            assert (same(each.where for each in found) is EventStatus.IN_FLIGHT) == is_pending

    @invariant()
    def streams_are_as_long_as_they_should_be(self) -> None:
        for group in GROUPS:
            backlogs = [each.delivery_stats.backlogs(subscribed(group)) for each in self.buses]
            for first, *others in zip(*backlogs, strict=True):
                for other in others:
                    assert (other.length, other.pending) == (first.length, first.pending)
                for each in (first, *others):
                    assert each.waiting in {None, self._waiting(group, each.priority)}

    def teardown(self) -> None:
        """Whatever was accepted is offered, when all has been read."""
        for group, priority in product(GROUPS, Priority):
            for _ in range(self._waiting(group, priority)):
                self.receive(group=group, priority=priority, limit=1)
        for group, event in product(GROUPS, EVENTS):
            [found] = {each.delivery_stats.locate(event.id, subscribed(group)).where for each in self.buses}
            assert event.id in self._offered(group) or found is EventStatus.UNKNOWN

    def _waiting(self, group: str, priority: Priority) -> int:
        return self.appended[priority] - self.read[group, priority] - self.missed[group, priority]

    def _offered(self, group: str) -> set[UUID]:
        return {hand.deliveries[0].event.id for hand in self.hands if hand.group == group}

    def _is_added(self, event: Event, priority: Priority) -> bool:
        """True if publishing *event* now adds an entry, and does not only return a receipt."""
        is_new = event.id not in self.known
        self.known.add(event.id)
        self.appended[priority] += is_new
        return is_new

    def _lease(self, hand: Hand) -> None:
        self.pending[hand.name] = self.now + LEASE

    def _commit(self, pick: int, effects: Effects) -> None:
        hand = self._hand(pick)
        expected = Duplicate if hand.name not in self.pending else Conflict if effects.writes else Committed
        verdicts = (each.bus.commit(given, effects) for each, given in zip(self.buses, hand.deliveries, strict=True))
        assert same(map(type, verdicts)) is expected
        if expected is Committed:
            del self.pending[hand.name]
            for event in effects.events:
                self._is_added(event, hand.deliveries[0].ref.priority)

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


def test_a_bus_keeps_its_promises_on_a_server_and_on_the_fake() -> None:
    """A quarter of the examples: each has many steps."""
    with servers.running() as url, servers.emptied(url) as client:
        run_state_machine_as_test(
            type("Machine", (BusMachine,), {"clients": (client, servers.fake())}),
            settings=settings(
                max_examples=max(settings().max_examples // 4, 1),
                stateful_step_count=50,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
