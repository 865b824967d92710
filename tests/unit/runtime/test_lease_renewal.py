"""Whose leases a process renews."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import pytest
from builders.buses import WholeBus
from builders.contexts import context_over
from builders.stores import WholeStore
from typing_extensions import override

from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.delivery_state import RetryPolicy
from nous.domain.effects import Effects
from nous.domain.errors import Unavailable
from nous.domain.events import Event, SessionEnded
from nous.pipeline.worker import Worker
from nous.runtime.attempt import Attempts, LeaseKeeper

TOY = Subscription("toy", SessionEnded)
INSTANT = 0.03
"""Seconds of a lease, which is renewed three times in it."""


class Watched(WholeBus):
    """A bus that remembers which leases it was asked to renew."""

    def __init__(self, clock: Any) -> None:
        super().__init__(clock=clock)
        self.renewed: list[list[DeliveryRef]] = []

    @override
    def renew(self, refs: Iterable[DeliveryRef], *, lease: float) -> None:
        self.renewed.append(list(refs))
        super().renew(self.renewed[-1], lease=lease)

    def is_overdue(self) -> bool:
        return bool(self.overdue(TOY, limit=1))


@pytest.fixture
def bus(clock: Any) -> Watched:
    return Watched(clock)


@pytest.fixture
def ref(bus: Watched, ended: Any) -> DeliveryRef:
    """A delivery whose lease has just ended."""
    bus.publish(ended())
    [delivery] = bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=0)
    return delivery.ref


@contextmanager
def keeper(bus: WholeBus, *, deadline: float) -> Generator[LeaseKeeper]:
    keeper = LeaseKeeper(bus, lease=INSTANT, deadline=deadline)
    try:
        yield keeper
    finally:
        keeper.stop()


def test_the_lease_of_what_is_being_handled_is_renewed(
    bus: Watched, ref: DeliveryRef, clock: Any, wait_until: Any
) -> None:
    with keeper(bus, deadline=600) as leases, leases.held(ref):
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed")
        clock.now += 60
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed again")


def test_the_lease_of_what_is_not_done_in_its_time_is_left_to_end(
    bus: Watched, ref: DeliveryRef, wait_until: Any
) -> None:
    with keeper(bus, deadline=0) as leases, leases.held(ref):
        wait_until(lambda: len(bus.renewed) >= 3, "three looks at the leases")

    assert not any(bus.renewed)
    assert bus.is_overdue()


def test_the_lease_of_what_is_over_is_renewed_no_more(bus: Watched, ref: DeliveryRef, wait_until: Any) -> None:
    with keeper(bus, deadline=600) as leases:
        with leases.held(ref):
            wait_until(lambda: [ref] in bus.renewed, "the lease to be renewed")
        looks = len(bus.renewed) + 1  # one may be under way
        wait_until(lambda: len(bus.renewed) >= looks + 2, "two more looks at the leases")

    assert not any(bus.renewed[looks:])


def test_an_attempt_holds_its_lease_while_its_handler_runs(
    bus: Watched, ref: DeliveryRef, clock: Any, wait_until: Any
) -> None:
    def handle(_: Event) -> Effects:
        wait_until(lambda: [ref] in bus.renewed, "the lease to be renewed", seconds=10)
        return Effects()

    worker, retry_policy = Worker("toy", SessionEnded, lambda _: handle), RetryPolicy(lease=INSTANT)
    context = context_over(WholeStore(), transcripts=None, clock=clock.date)
    with keeper(bus, deadline=600) as leases:
        attempts = Attempts({"toy": worker}, bus=bus, context=context, retry_policy=retry_policy, leases=leases)

        assert attempts("toy", ref.priority, ref.entry, 1) == "done"


def test_an_attempt_that_hung_and_ends_takes_no_lease_from_the_next_one(
    bus: Watched, ref: DeliveryRef, wait_until: Any
) -> None:
    with keeper(bus, deadline=600) as leases, leases.held(ref):
        with leases.held(ref):
            wait_until(lambda: bus.renewed, "a look at the leases")
        looks = len(bus.renewed) + 1  # one may be under way
        wait_until(lambda: len(bus.renewed) >= looks + 2, "two more looks at the leases")
        later = bus.renewed[looks:]  # read while it is held: another look may come before the keeper has stopped

    assert all(ref in renewed for renewed in later)


def test_whatever_goes_wrong_while_leases_are_renewed_they_are_renewed_again(
    bus: Watched, ref: DeliveryRef, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    renew, troubles = bus.renew, iter([OSError(24, "too many open files"), Unavailable("gone")])

    def troubled(refs: Iterable[DeliveryRef], *, lease: float) -> None:
        if trouble := next(troubles, None):
            raise trouble
        renew(refs, lease=lease)

    monkeypatch.setattr(bus, "renew", troubled)

    with keeper(bus, deadline=600) as leases, leases.held(ref):
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed")
