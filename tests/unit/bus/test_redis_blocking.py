"""What a bus on Redis waits for, and for how long."""

from typing import Any, Self

import fakeredis
import pytest
import redis
from redis.exceptions import NoPermissionError

from nous.bus.base import Priority, Subscription
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.streams import wait_for, wait_for_disk
from nous.domain.errors import Misconfigured, Unavailable
from nous.domain.events import SessionEnded


@pytest.fixture
def client() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer())


def test_waiting_for_what_stays_comes_to_an_end(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=10_000)

    wait_for(["held"], client, longest=0.1)

    assert client.exists("held")


def test_what_is_soon_gone_is_waited_for(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=60)

    wait_for(["held"], client, longest=600)

    assert not client.exists("held")


def test_what_is_published_durably_is_refused_where_no_disk_can_confirm_it(ended: Any) -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)  # it knows no WAITAOF
    bus = RedisBus(client, plan_of=lambda _: CommitPlan())

    with pytest.raises(Misconfigured, match="durable publishing needs"):
        bus.publish(ended(), durable=True)

    assert len(bus.receive(Subscription("toy", SessionEnded), priority=Priority.LIVE, limit=9, lease=60)) == 1


class Said:
    """What a server says to all that it is asked at once."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return self._taken

    def _taken(self, *_: Any) -> None: ...

    def execute(self, *, raise_on_error: bool = True) -> Any:
        if raise_on_error and isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


class Busy(fakeredis.FakeRedis):
    """A server whose disk is busy: it tells in turn how the writing of its log goes, and how many keys it finds."""

    def __init__(self, *told: Any) -> None:
        super().__init__(server=fakeredis.FakeServer())
        self.told = list(told)

    def pipeline(self, *_: Any, **__: Any) -> Any:
        return Said(self.told.pop(0))


UNWRITTEN = ({"aof_buffer_length": 400, "aof_last_write_status": "ok"}, 1)
WRITTEN = ({"aof_buffer_length": 0, "aof_last_write_status": "ok"}, 1)


def test_publishing_waits_until_the_server_has_written_what_it_took(ended: Any) -> None:
    client = Busy(*[UNWRITTEN] * 5, WRITTEN, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())

    assert client.told == [UNWRITTEN]


@pytest.mark.parametrize(
    "answer",
    [
        ({}, 1),  # it has no such log
        ({"aof_buffer_length": 0, "aof_last_write_status": "err"}, 1),  # it told of that before
        NoPermissionError("this user has no permissions to run the 'info' command"),
    ],
    ids=["no log", "a disk that was full", "no permission"],
)
def test_publishing_does_not_wait_for_what_cannot_be_known_or_is_over(ended: Any, answer: Any) -> None:
    client = Busy(answer, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())

    assert client.told == [UNWRITTEN]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (redis.ConnectionError("gone"), "did not answer"),
        (({"aof_buffer_length": 0}, 0), "has lost what it had taken"),  # by its successor, which never had it
        (({"aof_buffer_length": 400, "aof_last_write_status": "err"}, 1), "cannot write to its disk"),
    ],
    ids=["dead", "dead, with a successor", "a full disk"],
)
def test_a_server_that_cannot_have_written_what_it_took_has_not_confirmed_it(
    ended: Any, answer: Any, reason: str
) -> None:
    client = Busy(UNWRITTEN, answer)

    with pytest.raises(Unavailable, match=reason):
        RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())


def test_publishing_nothing_asks_nothing() -> None:
    assert RedisBus(Busy(), plan_of=lambda _: CommitPlan()).publish() == []


def test_a_disk_that_does_not_confirm_is_told_of() -> None:
    with pytest.raises(Unavailable, match="the disk did not confirm"):
        wait_for_disk(Busy([True, (0, 0)]), ["marker"], ttl=60)
