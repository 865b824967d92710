"""Replies that are lost: redis-py sends the command again, and must not take for another's what it did itself."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from builders.proxy import Proxy
from redis.backoff import NoBackoff
from redis.connection import UnixDomainSocketConnection
from redis.retry import Retry

from nous.bus.base import Priority, Subscription
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded
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
