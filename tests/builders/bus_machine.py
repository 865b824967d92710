"""Whatever may happen to a bus, in any order: each step is taken on every bus it is given, and on the model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from builders.bus_model import Entry, Model, Note
from builders.buses import LEASE, BusWorld
from nous.bus.accounting import DeadLetter, GroupCounters
from nous.bus.base import Committed, Conflict, DeadLetterKind, Delivery, DeliveryRef, Duplicate, Priority, Subscription
from nous.bus.delivery_state import DeliveryState
from nous.domain.effects import Effects, ReleaseTranscript
from nous.domain.event_codec import decode, encode
from nous.domain.events import Event, SessionEnded
from nous.domain.scope import Scope

GROUPS = ("summarizer", "auditor")
EVENTS = tuple(
    decode(f'{{"id": "event {number}", "data": {{"session_id": "s{number}"}}}}', type_hint="session_ended")
    for number in range(6)
)
FOREIGN: tuple[tuple[bytes, UUID | None, DeadLetterKind | None], ...] = (
    *((encode(event), event.id, None) for event in EVENTS[:2]),
    (b"not json", None, DeadLetterKind.DEAD),
    (b'{"type": "session_teleported", "data": {"session_id": "s1"}}', None, DeadLetterKind.PARKED),
)
REFUSED = Effects(writes=(ReleaseTranscript(scope=Scope(), dataref="redis:whatever"),))

groups = st.sampled_from(GROUPS)
priorities = st.sampled_from(Priority)
events = st.sampled_from(EVENTS)
picks = st.integers(0, 99)


def subscribed(group: str) -> Subscription:
    return Subscription(group, SessionEnded)


def _failed(progress: DeliveryState, *, costs: bool) -> DeliveryState:
    return progress.failed("oops") if costs else progress.put_off("not now")


@dataclass(eq=False, slots=True)
class Hand:
    """Somebody who was given a delivery once, by each bus, and may come back to it at any time."""

    group: str
    entry: Entry
    deliveries: list[Delivery]


class BusMachine(RuleBasedStateMachine):
    """Subclasses say in *build* on which buses the steps are taken; all live by one clock."""

    @staticmethod
    def build() -> Sequence[BusWorld]:
        raise NotImplementedError

    @initialize(told=st.lists(events, min_size=2, max_size=5))
    def begin_anew(self, told: list[Event]) -> None:
        self.buses = self.build()
        self.model = Model()
        self.model.now = self.buses[0].clock.now
        self.hands: list[Hand] = []
        for event in told:
            self.publish(event=event, priority=Priority.LIVE)
        for group in GROUPS:
            self.receive(group=group, priority=Priority.LIVE, limit=2)

    @rule(event=events, priority=priorities)
    def publish(self, event: Event, priority: Priority) -> None:
        entry, is_new = self.model.publish(event.id, priority)
        for receipt in (each.bus.publish(event, priority=priority)[0] for each in self.buses):
            entry.names += [receipt.entry] if is_new else []
            assert receipt.entry in entry.names
            assert (receipt.fresh, receipt.priority) == (is_new, entry.priority)

    @rule(told=st.sampled_from(FOREIGN), priority=priorities)
    def tell_from_afar(self, told: tuple[bytes, UUID | None, DeadLetterKind | None], priority: Priority) -> None:
        raw, event, grave = told
        entry = self.model.append(priority, event, grave)
        for each in self.buses:
            entry.names.append(each.foreign_append(raw, priority=priority))

    @rule(group=groups, priority=priorities, limit=st.integers(1, 4))
    def receive(self, group: str, priority: Priority, limit: int) -> None:
        offered = self.model.receive(group, priority, limit, LEASE)
        given = [each.receive(limit, subscribed(group), priority) for each in self.buses]
        for number, deliveries in enumerate(given):
            assert [each.ref.entry for each in deliveries] == [entry.names[number] for entry in offered]
            assert [each.event.id for each in deliveries] == [entry.event for entry in offered]
        assert not {(hand.group, hand.entry) for hand in self.hands} & {(group, entry) for entry in offered}
        for position, entry in enumerate(offered):
            self.hands.append(Hand(group, entry, [deliveries[position] for deliveries in given]))

    @rule(group=groups, priority=priorities, follow=st.none() | events)
    def do_the_next(self, group: str, priority: Priority, follow: Event | None) -> None:
        """As nearly always: what is offered is begun, and committed."""
        before = len(self.hands)
        self.receive(group=group, priority=priority, limit=1)
        for pick in range(before, len(self.hands)):
            self.begin(pick=pick, behind=0)
            self.commit(pick=-1, follow=follow, skipped=None)

    @rule(group=groups, priority=priorities)
    def claim_unleased(self, group: str, priority: Priority) -> None:
        self.model.join(group, priority)
        assert [each.bus.claim_unleased(subscribed(group), priority=priority) for each in self.buses] == [0] * len(
            self.buses
        )

    @precondition(lambda self: self.hands)
    @rule(pick=picks, behind=st.integers(0, 1))
    def begin(self, pick: int, behind: int) -> None:
        hand = self._hand(pick)
        progress = self.model.open(hand.group, hand.entry)
        attempt = (progress.attempt if progress else 1) - behind
        begun = [each.bus.begin(ref, attempt=attempt, lease=LEASE) for each, ref in self._each(hand)]
        assert {bool(delivery) for delivery in begun} == {bool(progress and progress.queues(attempt))}
        if progress and progress.queues(attempt):
            self.model.compare_and_set_state(hand.group, hand.entry, progress.begun(), LEASE)
            self.hands.append(replace(hand, deliveries=[delivery for delivery in begun if delivery]))

    @precondition(lambda self: self.hands)
    @rule(pick=picks, lease=st.sampled_from([1.0, 5 * LEASE]))
    def renew(self, pick: int, lease: float) -> None:
        hand = self._hand(pick)
        self.model.renew(hand.group, hand.entry, lease)
        for each, ref in self._each(hand):
            each.bus.renew([ref], lease=lease)

    @rule(seconds=st.sampled_from([1.0, LEASE / 2, 3 * LEASE]))
    def wait(self, seconds: float) -> None:
        self._pass(seconds)

    @precondition(lambda self: self.hands)
    @rule(pick=picks, costs=st.booleans())
    def fail(self, pick: int, *, costs: bool) -> None:
        hand = self._hand(pick)
        progress = self.model.open(hand.group, hand.entry)
        for each, ref in self._each(hand):
            if found := each.bus.open(ref):
                after = _failed(found.state, costs=costs)
                assert each.bus.compare_and_set_state(ref, before=found.state, after=after, lease=LEASE)
            assert (found is None) is (progress is None)
        if progress:
            self.model.compare_and_set_state(hand.group, hand.entry, _failed(progress, costs=costs), LEASE)

    @rule(group=groups)
    def sweep(self, group: str) -> None:
        """What is overdue is offered again, by one of two that try."""
        overdue = self.model.overdue(group)
        for number, each in enumerate(self.buses):
            found = each.bus.overdue(subscribed(group), limit=1000)
            assert {ref.entry for ref, _ in found} == {entry.names[number] for entry in overdue}
            for ref, progress in found:
                if each.bus.open(ref):
                    after = progress.resubmitted()
                    tried = [
                        each.bus.compare_and_set_state(ref, before=progress, after=after, lease=LEASE) for _ in range(2)
                    ]
                    assert tried == [True, False]
        for entry in sorted(overdue, key=lambda entry: entry.names[0]):
            if progress := self.model.open(group, entry):
                self.model.compare_and_set_state(group, entry, progress.resubmitted(), LEASE)

    @precondition(lambda self: self.hands)
    @rule(pick=picks, follow=st.none() | events, skipped=st.sampled_from([None, "too short"]))
    def commit(self, pick: int, follow: Event | None, skipped: str | None) -> None:
        """By whoever was given it, however long ago, and by whomever it was taken over: the first one counts."""
        hand = self._hand(pick)
        effects = Effects(events=(follow,) if follow else (), skipped=skipped)
        verdicts = [each.bus.commit(given, effects) for each, given in zip(self.buses, hand.deliveries, strict=True)]
        if hand.entry not in self.model.readers[hand.group].pending:
            assert verdicts == [Duplicate()] * len(self.buses)
            return
        assert verdicts == [Committed()] * len(self.buses)
        if skipped:
            self.model.skip(hand.group, hand.entry, skipped)
        else:
            self.model.close(hand.group, hand.entry, "done")
        if follow:
            self._follow(follow, hand.entry.priority)

    @precondition(lambda self: self.hands)
    @rule(pick=picks)
    def be_refused(self, pick: int) -> None:
        hand = self._hand(pick)
        verdicts = [each.bus.commit(given, REFUSED) for each, given in zip(self.buses, hand.deliveries, strict=True)]
        is_pending = hand.entry in self.model.readers[hand.group].pending
        assert {type(verdict) for verdict in verdicts} == {Conflict if is_pending else Duplicate}

    @precondition(lambda self: self.hands)
    @rule(pick=picks, grave=st.sampled_from(DeadLetterKind), is_stale=st.booleans())
    def dead_letter(self, pick: int, grave: DeadLetterKind, *, is_stale: bool) -> None:
        hand = self._hand(pick)
        progress = self.model.open(hand.group, hand.entry)
        for each, ref in self._each(hand):
            found = each.bus.open(ref)
            stands = replace(found.state, attempt=99) if found and is_stale else found and found.state
            done = each.bus.dead_letter(ref, progress=stands, reason="no use", grave=grave)
            assert done is (progress is not None and not is_stale)
        if progress and not is_stale:
            self.model.dead_letter(hand.group, hand.entry, grave, attempts=progress.attempt)

    @precondition(lambda self: self.model.letters)
    @rule(pick=picks)
    def redrive(self, pick: int) -> None:
        note, letters = self._letter(pick)
        self.model.redrive(note)
        for each, letter in zip(self.buses, letters, strict=True):
            tried = [each.dead.redrive(letter, subscribed(note.group)) for _ in range(2)]
            assert tried == [True, False]
        if note.entry.event:
            assert {self._open(number, note) for number in range(len(self.buses))} == {note.entry.event}

    @precondition(lambda self: self.model.letters)
    @rule(pick=picks)
    def drop(self, pick: int) -> None:
        note, letters = self._letter(pick)
        self.model.drop(note)
        for each, letter in zip(self.buses, letters, strict=True):
            assert each.dead.drop(letter)
            assert not each.dead.drop(letter)
            assert not each.dead.redrive(letter, subscribed(note.group))

    @rule(priority=priorities)
    def trim(self, priority: Priority) -> None:
        self._pass(3 * LEASE)
        gone = self.model.trim(priority)
        assert {sum(each.trimming.trim(SessionEnded, priority=priority, keep=LEASE)) for each in self.buses} == {gone}

    @invariant()
    def accounts_add_up(self) -> None:
        for group, each in self._asked():
            account, reader = each.delivery_stats.counters(subscribed(group)), self.model.readers[group]
            count = len(reader.pending)
            assert (account.discrepancy, account) == (
                0,
                GroupCounters.of(+reader.counts, in_flight=count, leased=count),
            )

    @invariant()
    def every_event_is_where_it_should_be(self) -> None:
        for group, each in self._asked():
            where = {event.id: each.delivery_stats.locate(event.id, subscribed(group)).where for event in EVENTS}
            assert where == {event.id: self.model.locate(event.id, group) for event in EVENTS}

    @invariant()
    def streams_are_as_long_as_they_should_be(self) -> None:
        for group, each in self._asked():
            for backlog in each.delivery_stats.backlogs(subscribed(group)):
                stream = self.model.streams[backlog.priority]
                assert backlog.length == sum(not entry.is_gone for entry in stream)
                assert backlog.waiting in {None, len(self.model.unread(group, backlog.priority))}

    def teardown(self) -> None:
        """Whatever was accepted is offered, when all has been read."""
        for group in GROUPS:
            for priority in Priority:
                while self.model.unread(group, priority):
                    self.receive(group=group, priority=priority, limit=4)
            offered = [hand.entry.event for hand in self.hands if hand.group == group]
            assert set(offered) >= {event for event, entry in self.model.places.items() if not entry.is_gone}

    def _asked(self) -> Iterator[tuple[str, BusWorld]]:
        return product(GROUPS, self.buses)

    def _hand(self, pick: int) -> Hand:
        return self.hands[pick % len(self.hands)]

    def _each(self, hand: Hand) -> Iterator[tuple[BusWorld, DeliveryRef]]:
        return zip(self.buses, (delivery.ref for delivery in hand.deliveries), strict=True)

    def _letter(self, pick: int) -> tuple[Note, list[DeadLetter]]:
        """A letter, as the model and as each bus has it."""
        note = self.model.letters[pick % len(self.model.letters)]
        found = [
            letter
            for each, name in zip(self.buses, note.entry.names, strict=True)
            for letter in each.dead.letters()
            if (letter.group, letter.priority, letter.entry) == (note.group, note.entry.priority, name)
        ]
        assert [(letter.letter_kind, letter.attempts) for letter in found] == [(note.grave, note.attempts)] * len(
            self.buses
        )
        return note, found

    def _open(self, number: int, note: Note) -> UUID | None:
        ref = DeliveryRef(subscribed(note.group), note.entry.priority, note.entry.names[number])
        delivery = self.buses[number].bus.open(ref)
        return delivery and delivery.event.id

    def _follow(self, event: Event, priority: Priority) -> None:
        entry, is_new = self.model.publish(event.id, priority)
        for each in self.buses:
            ref = each.delivery_stats.locate(event.id, subscribed(GROUPS[0])).ref
            if is_new:
                assert ref is not None
                entry.names.append(ref.entry)

    def _pass(self, seconds: float) -> None:
        self.model.now += seconds
        for clock in {id(each.clock): each.clock for each in self.buses}.values():
            clock.now += seconds
