"""Somebody writes into the counters of a group what is no count: whoever reads the account is told, and not thrown."""

import pytest
import redis

from nous.bus.base import Subscription
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.domain.errors import Fatal
from nous.domain.events import SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
ACCOUNT = "nous:account:episode-summarizer"


def test_a_counter_that_is_no_number_is_told_of_as_one_that_was_set_back(client: redis.Redis) -> None:
    client.hset(ACCOUNT, mapping={"received": "abc", "done": "3", b"\xff": "1"})

    account = RedisDeliveryStats(client).counters(SUMMARIZER)

    assert (account.received, account.done, account.discrepancy) == (0, 3, -3)
    assert "deleted or set back" in account.why


def test_an_account_that_is_no_hash_is_refused_with_what_the_server_says(client: redis.Redis) -> None:
    client.set(ACCOUNT, "abc")

    with pytest.raises(Fatal, match="WRONGTYPE"):
        RedisDeliveryStats(client).counters(SUMMARIZER)
