"""Somebody works on the keys of the bus with commands of his own: the accounts say so, and nothing is lost unseen."""

from typing import Any

import pytest
import redis
from builders import buses
from builders.buses import LEASE, SUMMARIZER, BusWorld
from builders.jobs import FakeJobs

from nous.bus.base import Committed, Duplicate
from nous.bus.delivery_state import DeliveryState, RetryPolicy
from nous.domain.effects import Effects
from nous.domain.errors import BadInput, InTheWay
from nous.domain.event_codec import LARGEST
from nous.redis_support.errors import GroupGone
from nous.runtime.worker_process import Dispatcher

GROUP, STREAM, PROGRESS = SUMMARIZER.group, "t:events:session_ended", "t:progress:episode-summarizer"


class Shop:
    """A bus on a server on which others work, too."""

    def __init__(self, client: Any, clock: Any) -> None:
        self.client: Any = client
        self.world: BusWorld = buses.on_redis(client, clock)
        self.bus = self.world.bus
        retry_policy = RetryPolicy(lease=LEASE)
        self.sweeper = Dispatcher(SUMMARIZER, bus=self.bus, jobs=FakeJobs(), retry_policy=retry_policy, ahead=4)

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


def test_a_group_that_is_destroyed_is_made_anew_and_offered_all_again(shop: Shop) -> None:
    shop.world.receive()

    shop.client.xgroup_destroy(STREAM, GROUP)
    with pytest.raises(GroupGone):
        shop.world.receive()

    assert len(shop.world.receive()) == 3
    assert shop.counts == (3, 0, 3, 0)


def test_what_somebody_else_acknowledges_is_over_and_missing_in_the_accounts(shop: Shop) -> None:
    first, *_ = shop.world.receive()

    shop.client.xack(STREAM, GROUP, first.ref.entry)

    assert shop.bus.commit(first, Effects()) == Duplicate()
    assert shop.bus.begin(first.ref, attempt=first.state.attempt, lease=LEASE) is None
    failed = first.state.failed("the model was busy")
    assert not shop.bus.compare_and_set_state(first.ref, before=first.state, after=failed, lease=10 * LEASE)
    shop.later()
    assert shop.counts == (3, 0, 2, 1)
    assert shop.client.zscore("t:leases:episode-summarizer", first.ref.name) is None


def test_an_entry_that_is_deleted_while_it_is_pending_is_dead_with_a_letter(shop: Shop) -> None:
    shop.world.receive()

    shop.client.xtrim(STREAM, maxlen=1, approximate=False)
    shop.later()

    assert shop.counts == (3, 2, 1, 0)
    assert shop.reasons == ["its entry was deleted from the stream while it was pending"] * 2


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


LONGEST_REASON = 1000
LONG = "x" * 5_000_000
DEEP = "[" * 10_000 + "]" * 10_000

TOO_MUCH = b'{"data": {"session_id": "s1", "transcript": "' + b"x" * LARGEST + b'"}}'
EVIL: dict[str, str | bytes] = {
    "deep data": f'{{"data": {DEEP}}}',
    "a zero byte": '{"data": {"session_id": "s\0"}}',
    "half a character": r'{"data": {"session_id": "\ud800"}}',
    "not UTF-8": b'{"data": {"session_id": "\xff\xfe"}}',
    "a number without end": '{"data": {"session_id": "s1", "bytes": ' + "9" * 100_000 + "}}",
    "a long name": f'{{"data": {{"session_id": "{LONG}"}}}}',
    "nothing": "",
    "too much": TOO_MUCH,
}


@pytest.mark.parametrize("raw", EVIL.values(), ids=EVIL)
def test_it_is_set_aside_with_a_reason_and_its_neighbours_are_handed_on(world: Any, ended: Any, raw: Any) -> None:
    world.publish(ended("before"))
    world.foreign_append(raw if isinstance(raw, bytes) else raw.encode())
    world.publish(ended("after"))

    assert [d.event.session_id for d in world.receive()] == ["before", "after"]
    [letter] = world.dead.letters()
    assert 0 < len(letter.reason) <= LONGEST_REASON
    assert "x" * 81 not in letter.reason
    assert (world.account.discrepancy, world.account.in_flight) == (0, 2)


def test_a_reason_is_kept_without_credentials_and_never_at_length(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.dead_letter(delivery.ref, progress=None, reason=f"Fatal: password=hunter22 was refused; {LONG}")

    [letter] = world.dead.letters()
    assert letter.reason.startswith("Fatal: ")
    assert "hunter22" not in letter.reason
    assert len(letter.reason) <= LONGEST_REASON


@pytest.mark.parametrize("client", ["server"], indirect=True)
def test_what_is_too_large_does_not_leave_its_server(world: Any, redis_client: Any) -> None:
    def sent() -> int:
        return int(redis_client.info("stats")["total_net_output_bytes"])

    world.foreign_append(TOO_MUCH)
    before = sent()
    world.receive()
    after_it_came = sent() - before
    [letter] = world.dead.letters()
    world.dead.redrive(letter, SUMMARIZER)
    [(ref, _)] = world.bus.overdue(SUMMARIZER, limit=10)
    before = sent()
    world.bus.open(ref)

    assert max(after_it_came, sent() - before) < LARGEST / 100


def test_what_is_too_large_is_not_published(world: Any, ended: Any) -> None:
    with pytest.raises(BadInput, match="none may have more than 16,777,216"):
        world.publish(ended("s1", "x" * LARGEST))

    assert world.receive() == []


def test_no_more_is_handed_over_at_once_than_one_may_have(world: Any) -> None:
    for number in range(10):
        text = b"x" * (LARGEST // 4)
        world.foreign_append(b'{"data": {"session_id": "s%d", "transcript": "%s"}}' % (number, text))

    offered = [len(world.receive(limit=10)) for _ in range(4)]

    assert offered == [4, 4, 2, 0]
