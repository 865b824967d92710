"""Replies that are lost: redis-py sends the command again, and must not take for another's what it did itself."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
from builders.proxy import Proxy
from redis.backoff import NoBackoff
from redis.connection import UnixDomainSocketConnection
from redis.retry import Retry

from nous.bus.accounting import EventStatus
from nous.bus.base import DeadLetterKind, DeliveryRef, Priority, Subscription
from nous.bus.delivery_state import MOST, AttemptFailure, AttemptOutcome
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.domain.effects import Effects
from nous.domain.errors import NotFound
from nous.domain.events import JobDeadLettered, SessionEnded
from nous.redis_server.client import connect_rq
from nous.settings import Settings

TOY = Subscription("toy", SessionEnded)


class Forgetful(UnixDomainSocketConnection):
    """Loses one reply: the first from now on if `loses` is 1, the second if it is 2."""

    loses = 0

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        reply = super().read_response(*args, **kwargs)
        if type(self).loses:
            type(self).loses -= 1
            if not type(self).loses:
                self.disconnect()
                raise redis.ConnectionError("the reply was lost")
        return reply


@pytest.fixture
def client(redis_client: redis.Redis) -> redis.Redis:
    path = redis_client.connection_pool.connection_kwargs["path"]
    retry = Retry(NoBackoff(), retries=1)
    kind: Any = Forgetful  # typed for TCP, though it takes any
    return redis.Redis(connection_pool=redis.ConnectionPool(connection_class=kind, path=path, retry=retry, protocol=2))


@pytest.fixture
def bus(client: redis.Redis) -> RedisBus:
    return RedisBus(client, plan_of=lambda _: CommitPlan())


def test_an_attempt_whose_beginning_was_not_heard_of_has_begun_all_the_same(bus: RedisBus, ended: Any) -> None:
    bus.publish(ended("s1"), ended("s2"))
    first, second = bus.receive(TOY, priority=Priority.LIVE, limit=2, lease=60)
    bus.begin(first.ref, attempt=1, lease=60)  # the server knows the script now

    Forgetful.loses = 1
    begun = bus.begin(second.ref, attempt=1, lease=60)

    assert not Forgetful.loses
    assert begun is not None
    assert begun.event == second.event
    assert bus.begin(second.ref, attempt=1, lease=60) is None


def test_a_publication_whose_reply_was_lost_is_one_event(bus: RedisBus, redis_client: redis.Redis, ended: Any) -> None:
    bus.publish(ended("s1"))

    Forgetful.loses = 1
    bus.publish(ended("s2"))

    assert not Forgetful.loses
    received = bus.receive(TOY, priority=Priority.LIVE, limit=10, lease=60)
    assert [delivery.event.session_id for delivery in received] == ["s1", "s2"]
    assert redis_client.xlen("nous:events:session_ended") == 2


def test_a_commit_whose_reply_was_lost_is_counted_once(bus: RedisBus, redis_client: redis.Redis, ended: Any) -> None:
    bus.publish(ended("s1"), ended("s2"))
    first, second = bus.receive(TOY, priority=Priority.LIVE, limit=2, lease=60)
    bus.commit(first, Effects())

    Forgetful.loses = 1
    bus.commit(second, Effects())

    assert not Forgetful.loses
    assert redis_client.hget("nous:account:toy", "done") == b"2"


@pytest.mark.parametrize("way", ["drop", "redrive"])
def test_a_letter_that_was_dealt_with_unheard_is_dealt_with_once(
    bus: RedisBus, client: redis.Redis, ended: Any, way: str
) -> None:
    dead = RedisDeadLetterQueue(client)
    deal = dead.drop if way == "drop" else partial(dead.redrive, subscription=TOY)
    bus.publish(ended("s1"), ended("s2"))
    for delivery in bus.receive(TOY, priority=Priority.LIVE, limit=2, lease=60):
        bus.dead_letter(delivery.ref, progress=None, reason="hopeless")
    first, second = dead.letters()
    assert deal(first)  # the server knows the script now

    Forgetful.loses = 1
    deal(second)

    assert (Forgetful.loses, dead.count()) == (0, 0)
    assert RedisDeliveryStats(client).counters(TOY).discrepancy == 0


@pytest.mark.parametrize("lost", range(1, 25))
@pytest.mark.parametrize("left", [0, 3])
def test_streams_are_written_anew_and_counted_whichever_reply_is_lost(
    bus: RedisBus, client: redis.Redis, redis_client: redis.Redis, left: int, lost: int
) -> None:
    server: Any = redis_client
    bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)
    streams = ("nous:events:session_ended", "nous:bulk:session_ended", "nous:dead")
    for stream in streams:
        entries = [server.xadd(stream, {"event": f"{number}"}) for number in range(left + 1)]
        server.xdel(stream, entries[0])

    Forgetful.loses = lost
    written = RedisBusErasure(client).purge()
    Forgetful.loses = 0

    assert written == len(streams)
    assert [server.xlen(stream) for stream in streams] == [left] * len(streams)
    standing = [stream for stream in streams if server.exists(stream)]
    assert {server.xinfo_stream(stream)["max-deleted-entry-id"] for stream in standing} == {b"0-0"}
    assert server.keys("*:aside:*") == []


def test_what_is_said_for_rq_is_never_repeated(redis_client: redis.Redis) -> None:
    with Proxy(Path(redis_client.connection_pool.connection_kwargs["path"])) as proxy:
        client = connect_rq(Settings(redis_url=proxy.url))

        proxy.spoil("cut", every=1, times=1)
        with pytest.raises(redis.ConnectionError):
            client.incr("said")
        client.close()

    assert redis_client.get("said") == b"1"


SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
WATCHER = Subscription("watcher", JobDeadLettered)


def fail(world: Any, delivery: Any, attempt: int, text: str = "away") -> Any:
    """Note that an attempt failed; returns the delivery as it stands then."""
    after = replace(delivery.state.failed(text), attempt=attempt)
    attempt_failure = AttemptFailure(
        fate=AttemptOutcome.FAILED, attempt=attempt, text=text, place="workers/toy.py:1 in f"
    )
    world.clock.now += 1
    assert world.bus.compare_and_set_state(
        delivery.ref, before=delivery.state, after=after, lease=60, attempt_failure=attempt_failure
    )
    return replace(delivery, state=after)


def received(world: Any, event: Any) -> Any:
    world.publish(event)
    [delivery] = world.receive()
    return delivery


def test_a_letter_has_what_went_wrong_before_it_and_the_last_of_it(world: Any, ended: Any) -> None:
    delivery = fail(world, fail(world, received(world, ended()), 1), 2)
    last = AttemptFailure(fate=AttemptOutcome.FAILED, attempt=3, text="hopeless")

    world.bus.dead_letter(
        delivery.ref, progress=delivery.state, reason="hopeless", attempt_failure=last, traceback="! X: hopeless"
    )

    [letter] = world.dead.letters()
    assert [(each.attempt, each.text) for each in letter.history] == [(1, "away"), (2, "away"), (3, "hopeless")]
    assert letter.history[0].place == "workers/toy.py:1 in f"
    assert (letter.history[1].at - letter.history[0].at).total_seconds() == 1
    assert letter.traceback == "! X: hopeless"


def test_the_history_is_bounded_and_goes_on_when_a_letter_is_redriven(world: Any, ended: Any) -> None:
    delivery = received(world, ended())
    for attempt in range(1, 2 * MOST):
        delivery = fail(world, delivery, attempt)
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="x")
    [letter] = world.dead.letters()
    assert [each.attempt for each in letter.history] == list(range(MOST, 2 * MOST))

    world.dead.redrive(letter, SUMMARIZER)
    world.clock.now += 1
    world.bus.dead_letter(delivery.ref, progress=None, reason="again")

    [again] = world.dead.letters()
    assert again.history[:-1] == letter.history[1:]
    assert (again.history[-1].fate, again.history[-1].attempt) == (AttemptOutcome.REDRIVEN, letter.attempts)


def test_a_delivery_that_is_done_leaves_no_history(world: Any, ended: Any, client: Any) -> None:
    delivery = fail(world, received(world, ended()), 1)

    world.bus.commit(delivery, Effects())

    assert client.keys("t:progress:*") == []


def test_what_is_kept_of_a_pending_delivery_is_read_and_written_by_older_releases(
    world: Any, ended: Any, client: Any
) -> None:
    delivery = fail(world, received(world, ended()), 1)

    [stored] = client.hgetall("t:progress:episode-summarizer").values()

    older = {"attempt": 1, "state": "waiting", "errors": 1, "crashes": 0, "deaths": 0, "reason": "away"}
    assert orjson.loads(stored) == older
    assert stored == orjson.dumps(older) == delivery.state.encode()
    [history] = client.keys("t:progress:episode-summarizer:*")
    assert 0 < client.ttl(history) <= 7 * 24 * 3600


def test_a_letter_of_an_older_release_is_read_and_redriven(world: Any, ended: Any, client: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=None, reason="x")
    [(letter_id, fields)] = client.xrange("t:dead")
    known = {b"group", b"kind", b"lane", b"entry", b"grave", b"reason", b"attempts", b"event_id", b"session_id"}
    client.xdel("t:dead", letter_id)
    client.xadd("t:dead", {name: fields[name] for name in known})

    [letter] = world.dead.letters()

    assert known <= fields.keys()
    assert (letter.history, letter.traceback, letter.session_id) == ((), "", "s1")
    assert world.dead.redrive(letter, SUMMARIZER)


def test_that_an_event_is_dead_is_published_once_and_in_the_same_step(world: Any, ended: Any) -> None:
    event = ended()
    delivery = fail(world, received(world, event), 1)

    told = [world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="gave up") for _ in range(2)]

    assert told == [True, False]
    [announced] = [each.event for each in world.receive(subscription=WATCHER)]
    assert world.delivery_stats.counters(WATCHER).received == 1  # nor was it a second time in the stream
    assert (announced.why, announced.caused_by, announced.session_id) == ("gave up", event.id, "s1")
    assert announced.what["worker"] == "episode-summarizer"
    assert announced.counts == {"attempts": 1, "errors": 1, "crashes": 0, "deaths": 0}


def test_what_dies_again_is_another_event_and_what_is_parked_is_none(world: Any, ended: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="x")
    world.dead.redrive(world.dead.letters()[0], SUMMARIZER)
    [(ref, progress)] = world.bus.overdue(SUMMARIZER, limit=1)
    after = progress.resubmitted()
    world.bus.compare_and_set_state(ref, before=progress, after=after, lease=60)
    world.bus.dead_letter(ref, progress=after, reason="x")
    world.publish(ended("s2"))
    [parked] = world.receive()
    world.bus.dead_letter(parked.ref, progress=None, reason="x", grave=DeadLetterKind.PARKED)

    assert len({each.event.id for each in world.receive(subscription=WATCHER)}) == 2


def test_who_cannot_take_that_something_is_dead_is_not_told_so_without_end(world: Any, ended: Any) -> None:
    world.bus.dead_letter(received(world, ended()).ref, progress=None, reason="x")
    [told] = world.receive(subscription=WATCHER)

    world.bus.dead_letter(told.ref, progress=told.state, reason="the watcher cannot take it")

    assert world.receive(subscription=WATCHER) == []
    assert (world.delivery_stats.counters(WATCHER).dead, world.delivery_stats.counters(WATCHER).discrepancy) == (1, 0)
    assert [letter.reason for letter in world.dead.letters()] == ["x", "the watcher cannot take it"]


def test_the_event_of_a_letter_can_be_looked_at_as_long_as_it_is_there(world: Any, ended: Any, client: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=None, reason="x")
    [letter] = world.dead.letters()

    assert orjson.loads(world.dead.payload(letter))["data"]["session_id"] == "s1"

    client.xdel(f"t:events:{SessionEnded.type}", letter.entry)
    assert world.dead.payload(letter) is None
    with pytest.raises(NotFound, match="no longer in its stream"):
        world.dead.redrive(letter, SUMMARIZER)


def test_what_was_dropped_is_not_taken_for_done(world: Any, ended: Any) -> None:
    event = ended()
    delivery = received(world, event)
    world.bus.dead_letter(delivery.ref, progress=None, reason="hopeless")

    assert [world.dead.drop(world.dead.letters()[0]), world.dead.count()] == [True, 0]

    location = world.delivery_stats.locate(event.id, SUMMARIZER)
    assert (location.where, location.reason) == (EventStatus.SKIPPED, "its letter was dropped; hopeless")
    assert world.account.discrepancy == 0


def test_who_redrives_each_letter_is_not_told_of_what_dies_again_meanwhile(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{number}") for number in range(20)))
    for delivery in world.receive(limit=20):
        world.bus.dead_letter(delivery.ref, progress=None, reason="x")

    told: list[str | None] = []
    for letter in world.dead.each():
        told.append(letter.session_id)
        assert world.dead.redrive(letter, SUMMARIZER)
        world.bus.dead_letter(DeliveryRef(SUMMARIZER, letter.priority, letter.entry), progress=None, reason="x")

    assert told == [f"s{number}" for number in range(20)]
    assert world.dead.count() == 20
