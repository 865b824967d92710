"""An upload is there when its event is published, and stays until nobody needs it, asked of each bus with its store."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import redis

from nous.bus.accounting import DeadLetterQueue
from nous.bus.base import Bus, DeadLetterKind, Delivery, Priority, PublishReceipt, Subscription
from nous.bus.memory.bus import MemoryBus
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import Tombstone, WasForgotten, name_of
from nous.domain.effects import Effects, ReleaseTranscript
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.redis.plans import plan_for
from nous.store.redis.uploads import RedisUploads
from nous.store.transcript_source import Uploads, upload, upload_of

READER, OTHER = Subscription("reader", SessionEnded), Subscription("other", SessionEnded)
KEYS, BUS_KEYS = StoreKeys("t"), BusKeys("t")
DONE = Effects()


@dataclass
class Post:
    """A bus, its letters and what was uploaded; and one session that travels beside its event."""

    bus: Bus
    dead: DeadLetterQueue
    uploads: Uploads
    event: SessionEnded

    def upload(self) -> str:
        return upload(self.uploads, b"User: hi", keys=KEYS, scope=Scope(), session_id="s1")

    def publish(self) -> PublishReceipt:
        [receipt] = self.bus.publish(self.event)
        return receipt

    def receive(self, reader: Subscription = READER) -> Delivery:
        [delivery] = self.bus.receive(reader, priority=Priority.LIVE, limit=9, lease=60)
        return delivery

    def is_released(self) -> bool:
        """Whether it is let go when that is asked for: what is said of it, and what is so, are the same."""
        said = self.bus.release(self.event)
        key = upload_of(self.event, keys=KEYS)
        assert said == (key is not None and self.uploads.fetch(key) is None)
        return said


@pytest.fixture
def post(kept_on: redis.Redis | None, ended: Any, clock: Any) -> Post:
    dataref = upload(MemoryStore(KEYS), b"User: hi", keys=KEYS, scope=Scope(), session_id="s1")
    event = ended(transcript=None, dataref=dataref)
    if kept_on is None:
        store = MemoryStore(KEYS)
        bus = MemoryBus(store.apply, has_upload=store.has_upload, clock=clock)
        return Post(bus, bus, store, event)
    redis_bus = RedisBus(
        kept_on,
        plan_of=partial(plan_for, keys=KEYS),
        keys=BUS_KEYS,
        upload_of=partial(upload_of, keys=KEYS),
        clock=clock,
    )
    return Post(redis_bus, RedisDeadLetterQueue(kept_on, BUS_KEYS, clock=clock), RedisUploads(kept_on), event)


def test_an_event_is_not_published_without_what_was_uploaded_for_it(post: Post) -> None:
    with pytest.raises(Unavailable, match="publish it again"):
        post.publish()
    assert post.bus.receive(READER, priority=Priority.LIVE, limit=9, lease=60) == []

    post.upload()

    assert post.publish().fresh


def test_what_was_published_before_needs_no_upload_to_be_told_so(post: Post) -> None:
    post.upload()
    post.publish()
    released = ReleaseTranscript(scope=Scope(), dataref=post.event.dataref or "")
    post.bus.commit(post.receive(), Effects(writes=(released,)))

    assert not post.publish().fresh


def waiting(_: Post) -> None:
    """Nobody has taken it yet."""


def in_flight(post: Post) -> None:
    post.receive()


def dead(post: Post) -> None:
    post.bus.dead_letter(post.receive().ref, progress=None, reason="a test")


def parked(post: Post) -> None:
    post.bus.dead_letter(post.receive().ref, progress=None, reason="a test", grave=DeadLetterKind.PARKED)


def redriven(post: Post) -> None:
    dead(post)
    assert post.dead.redrive(post.dead.letters()[0], READER)


def done_by_one(post: Post) -> None:
    post.bus.commit(post.receive(), DONE)
    post.receive(OTHER)


@pytest.mark.parametrize("state", [waiting, in_flight, dead, parked, redriven, done_by_one])
def test_an_upload_that_somebody_may_still_read_is_kept(post: Post, state: Callable[[Post], None]) -> None:
    post.upload()
    post.publish()
    state(post)

    assert not post.is_released()


def done(post: Post) -> None:
    post.bus.commit(post.receive(), DONE)


def skipped(post: Post) -> None:
    post.bus.commit(post.receive(), Effects(skipped="nothing new"))


def dropped(post: Post) -> None:
    dead(post)
    assert post.dead.drop(post.dead.letters()[0])


@pytest.mark.parametrize("state", [done, skipped, dropped])
def test_an_upload_that_nobody_is_going_to_read_is_let_go(post: Post, state: Callable[[Post], None]) -> None:
    post.upload()
    post.publish()
    state(post)

    assert post.is_released()


def test_an_upload_whose_event_stands_nowhere_is_on_its_way_to_be_published(post: Post) -> None:
    post.upload()

    assert not post.is_released()
    assert post.publish().fresh


def test_what_somebody_else_acknowledged_is_not_done(post: Post, kept_on: redis.Redis | None) -> None:
    if kept_on is None:
        pytest.skip("nobody else can acknowledge on a bus in memory")
    post.upload()
    post.publish()
    ref = post.receive().ref
    kept_on.xack(BUS_KEYS.stream(SessionEnded.type, Priority.LIVE), READER.group, ref.entry)

    assert not post.is_released()
    assert post.bus.dead_letter_foreign_ack(ref)
    assert not post.is_released()


def test_what_was_uploaded_of_a_forgotten_session_is_let_go(
    post: Post, kept_on: redis.Redis | None, clock: Any
) -> None:
    if kept_on is None:
        pytest.skip("a bus in memory forgets nobody")
    post.upload()
    RedisTombstones(kept_on, BUS_KEYS).put(Scope(), [name_of(post.event)], Tombstone(at=clock.date(), is_done=True))

    with pytest.raises(WasForgotten):
        post.publish()
    assert post.is_released()
