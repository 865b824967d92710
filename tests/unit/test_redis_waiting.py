"""What a bus on Redis waits for, and for how long."""

import fakeredis
import pytest
from structlog.testing import capture_logs

from nous.bus.redis_waiting import wait_for


@pytest.fixture
def client() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer())


def test_nobody_waits_for_what_is_not_there(client: fakeredis.FakeRedis) -> None:
    with capture_logs() as said:
        wait_for(["held"], client, longest=600, silent=0)

    assert said == []


def test_waiting_for_what_stays_comes_to_an_end_and_says_once_what_it_was_for(client: fakeredis.FakeRedis) -> None:
    client.set("held", "")

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
