"""Somebody works on the keys of the bus with commands of his own: the accounts say so, and nothing is lost unseen."""

from collections.abc import Callable
from typing import Any

import pytest
import redis
from builders import buses
from builders.buses import LEASE, SUMMARIZER, BusWorld
from builders.jobs import FakeJobs

from nous.bus.base import Committed, Duplicate, Priority
from nous.bus.delivery_state import DeliveryState, RetryPolicy
from nous.domain.effects import Effects
from nous.domain.errors import InTheWay
from nous.redis_support.errors import GroupGone
from nous.runtime.sweeper import Sweeper

GROUP, STREAM, PROGRESS = SUMMARIZER.group, "t:events:session_ended", "t:progress:episode-summarizer"


class Shop:
    """A bus on a server on which others work, too."""

    def __init__(self, client: Any, clock: Any) -> None:
        self.client: Any = client
        self.world: BusWorld = buses.on_redis(client, clock)
        self.bus = self.world.bus
        retry_policy = RetryPolicy(lease=LEASE)
        self.sweeper = Sweeper(SUMMARIZER, bus=self.bus, jobs=FakeJobs(), retry_policy=retry_policy, ahead=4)

    def later(self) -> None:
        self.world.clock.now += LEASE + 1
        self.sweeper.sweep()

    @property
    def reasons(self) -> list[str]:
        return [letter.reason for letter in self.world.dead.letters()]

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """What was received, is dead and in flight, and by how much they differ."""
        account = self.world.account
        return account.received, account.dead, account.in_flight, account.discrepancy


@pytest.fixture
def shop(client: redis.Redis, clock: Any, ended: Any) -> Shop:
    """A bus with three sessions."""
    shop = Shop(client, clock)
    shop.bus.publish(*(ended(f"s{number}") for number in range(3)))
    return shop


def acknowledge(shop: Shop, entry: str) -> None:
    shop.client.xack(STREAM, GROUP, entry)


def delete_the_consumer(shop: Shop, _: str) -> None:
    shop.client.xgroup_delconsumer(STREAM, GROUP, "nous")


@pytest.mark.parametrize(("take", "taken"), [(acknowledge, 1), (delete_the_consumer, 3)])
def test_what_somebody_else_takes_from_us_is_set_aside_and_can_be_redriven(
    shop: Shop, take: Callable[[Shop, str], None], taken: int
) -> None:
    first, *_ = shop.world.receive()

    take(shop, first.ref.entry)

    assert shop.bus.commit(first, Effects()) == Duplicate()
    assert shop.bus.begin(first.ref, attempt=first.state.attempt, lease=LEASE) is None
    failed = first.state.failed("the model was busy")
    assert not shop.bus.compare_and_set_state(first.ref, before=first.state, after=failed, lease=10 * LEASE)
    assert shop.counts == (3, 0, 3 - taken, taken)
    shop.later()
    assert shop.counts == (3, taken, 3 - taken, 0)
    assert all("another client acknowledged it" in reason for reason in shop.reasons)
    for letter in shop.world.dead.letters():
        assert letter.session_id
        assert shop.world.dead.redrive(letter, SUMMARIZER)
    assert shop.counts == (3, 0, 3, 0)


def test_a_group_that_is_destroyed_is_made_anew_and_offered_all_again(shop: Shop) -> None:
    shop.world.receive()

    shop.client.xgroup_destroy(STREAM, GROUP)
    with pytest.raises(GroupGone):
        shop.world.receive()

    assert len(shop.world.receive()) == 3
    assert shop.counts == (3, 0, 3, 0)


@pytest.mark.parametrize("key", ["t:leases:episode-summarizer", PROGRESS])
def test_deliveries_whose_leases_or_progress_are_deleted_are_tried_again(shop: Shop, key: str) -> None:
    shop.world.receive()

    shop.client.delete(key)
    shop.later()
    shop.later()

    shop.world.clock.now += LEASE + 1
    tried = [progress.attempt for _, progress in shop.bus.overdue(SUMMARIZER, limit=10)]
    assert len(tried) == 3
    assert min(tried) >= 2
    assert shop.counts == (3, 0, 3, 0)


def test_of_much_that_somebody_else_receives_all_is_taken_over(shop: Shop, ended: Any) -> None:
    shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE)
    shop.bus.publish(*(ended(f"more-{number}") for number in range(247)))
    shop.client.xreadgroup(GROUP, "stranger", {STREAM: ">"}, count=1000)

    taken = [shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE) for _ in range(3)]

    assert taken == [100, 100, 50]
    assert shop.counts == (250, 0, 250, 0)


@pytest.mark.parametrize("who", ["ours", "a stranger's"])
def test_an_entry_that_is_deleted_while_it_is_pending_is_dead_with_a_letter(shop: Shop, who: str) -> None:
    shop.bus.claim_unleased(SUMMARIZER, priority=Priority.LIVE)
    if who == "ours":
        shop.world.receive()
    else:
        shop.client.xreadgroup(GROUP, "stranger", {STREAM: ">"}, count=10)

    shop.client.xtrim(STREAM, maxlen=1, approximate=False)
    shop.later()

    assert shop.counts == (3, 2, 1, 0)
    assert shop.reasons == ["its entry was deleted from the stream while it was pending"] * 2


def test_a_stream_that_is_deleted_takes_what_was_pending_to_the_dead_letters(
    redis_client: redis.Redis, clock: Any, ended: Any
) -> None:
    shop = Shop(redis_client, clock)  # fakeredis calls a stream that is gone by another error
    shop.bus.publish(*(ended(f"s{number}") for number in range(3)))
    shop.world.receive()

    shop.client.delete(STREAM)
    with pytest.raises(GroupGone):
        shop.world.receive()
    shop.world.receive()
    shop.later()

    assert shop.counts == (3, 3, 0, 0)


def test_counters_that_are_deleted_are_told_of(shop: Shop) -> None:
    shop.world.receive()

    shop.client.delete("t:account:episode-summarizer")

    assert shop.counts == (0, 0, 3, -3)


def test_a_delivery_whose_progress_cannot_be_read_is_tried_again_and_committed(shop: Shop) -> None:
    first, *_ = shop.world.receive()
    shop.client.hset(PROGRESS, first.ref.name, '{"state":"dreaming"}')

    shop.later()

    begun = shop.bus.begin(first.ref, attempt=2, lease=LEASE)
    assert begun
    assert shop.bus.commit(begun, Effects()) == Committed()
    assert shop.counts == (3, 0, 2, 0)


def test_progress_that_a_later_release_wrote_before_it_was_taken_back_is_gone_on_with(shop: Shop) -> None:
    first, *_ = shop.world.receive()
    added = DeliveryState(errors=2).encode().removesuffix(b"}") + b',"mood":"good"}'
    shop.client.hset(PROGRESS, first.ref.name, added)

    shop.later()

    begun = shop.bus.begin(first.ref, attempt=2, lease=LEASE)
    assert begun
    assert begun.state.errors == 2


def test_a_key_of_another_type_is_refused_by_its_name(redis_client: redis.Redis, clock: Any, ended: Any) -> None:
    shop = Shop(redis_client, clock)
    shop.bus.publish(ended())
    shop.client.set("t:leases:episode-summarizer", "garbage")

    with pytest.raises(InTheWay, match="WRONGTYPE t:leases:episode-summarizer is a string"):
        shop.world.receive()
