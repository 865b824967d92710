"""What a bus on Redis waits for, and for how long."""

from typing import Any, Self

import fakeredis
import pytest
import redis
from redis.exceptions import NoPermissionError
from structlog.testing import capture_logs

from nous.bus.base import Lane, Subscription
from nous.bus.plan import Plan
from nous.bus.redis import RedisBus
from nous.bus.redis_waiting import wait_for, wait_for_disk
from nous.errors import Misconfigured, Unavailable
from nous.events import SessionEnded


@pytest.fixture
def client() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer())


def test_nobody_waits_for_what_is_not_there(client: fakeredis.FakeRedis) -> None:
    with capture_logs() as said:
        wait_for(["held"], client, longest=600, silent=0)

    assert said == []


def test_waiting_for_what_stays_comes_to_an_end_and_says_once_what_it_was_for(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=10_000)

    with capture_logs() as said:
        wait_for(["held"], client, longest=0.2, silent=0.05)

    assert [(each["log_level"], each["keys"]) for each in said] == [("warning", ["held"])]
    assert client.exists("held")


def test_of_waiting_for_what_is_soon_gone_nothing_is_said(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=60)

    with capture_logs() as said:
        wait_for(["held"], client, longest=600, silent=600)

    assert said == []
    assert not client.exists("held")


def test_what_is_published_durably_is_refused_where_no_disk_can_confirm_it(ended: Any) -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)  # it knows no WAITAOF
    bus = RedisBus(client, plan_of=lambda _: Plan())

    with pytest.raises(Misconfigured, match="durable publishing needs"):
        bus.publish(ended(), durable=True)

    assert len(bus.receive(Subscription("toy", SessionEnded), lane=Lane.LIVE, limit=9, lease=60)) == 1


class Busy(fakeredis.FakeRedis):
    """A server whose disk is busy: it tells in turn how the writing of its log goes."""

    def __init__(self, *told: Any) -> None:
        super().__init__(server=fakeredis.FakeServer())
        self.told = list(told)

    def info(self, *_: Any, **__: Any) -> Any:
        answer = self.told.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


UNWRITTEN = {"aof_buffer_length": 400, "aof_last_write_status": "ok"}


def test_publishing_waits_until_the_server_has_written_what_it_took(ended: Any) -> None:
    client = Busy(*[UNWRITTEN] * 5, {"aof_buffer_length": 0}, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: Plan()).publish(ended())

    assert client.told == [UNWRITTEN]


@pytest.mark.parametrize(
    "answer",
    [
        {},  # it has no such log
        UNWRITTEN | {"aof_last_write_status": "err"},
        NoPermissionError("this user has no permissions to run the 'info' command"),
    ],
    ids=["no log", "a full disk", "no permission"],
)
def test_publishing_does_not_wait_for_what_cannot_be_known_or_does_not_come(ended: Any, answer: Any) -> None:
    client = Busy(answer, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: Plan()).publish(ended())

    assert client.told == [UNWRITTEN]


def test_a_server_that_dies_with_what_it_had_not_written_has_not_confirmed_it(ended: Any) -> None:
    client = Busy(UNWRITTEN, redis.ConnectionError("gone"))

    with pytest.raises(Unavailable, match="did not answer"):
        RedisBus(client, plan_of=lambda _: Plan()).publish(ended())


class Slow(fakeredis.FakeRedis):
    """A server whose disk has confirmed nothing when the time is over."""

    def pipeline(self, *_: Any, **__: Any) -> Any:
        return Said([True, (0, 0)])


class Said:
    """What a server says to all that it is asked at once."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def expire(self, *_: Any) -> None: ...

    def execute_command(self, *_: Any) -> None: ...

    def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        return self._answers


def test_a_disk_that_does_not_confirm_is_told_of() -> None:
    with pytest.raises(Unavailable, match="the disk did not confirm"):
        wait_for_disk(Slow(server=fakeredis.FakeServer()), ["marker"], ttl=60)
