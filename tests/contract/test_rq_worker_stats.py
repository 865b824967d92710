"""Who is counted among the workers, and that counting touches nothing."""

import os
import socket

import pytest
import redis
from builders.full_disk import unwritable
from builders.rq import worker_of

from nous.jobs.rq.worker_stats import workers_seen

KEY = "rq:worker:worker"


@pytest.fixture
def registered(redis_client: redis.Redis) -> redis.Redis:
    """A server that knows a stock worker."""
    worker_of(redis_client).register_birth()
    return redis_client


def test_a_stock_worker_is_seen_by_name(registered: redis.Redis) -> None:
    [seen] = workers_seen(registered)

    assert (seen.name, seen.queues, seen.pid, seen.host) == ("worker", ("toy",), os.getpid(), socket.gethostname())


@pytest.mark.parametrize("left", [{"successful_job_count": "1"}, {}])
def test_what_a_worker_has_left_behind_is_nobody(registered: redis.Redis, left: dict[str, str]) -> None:
    registered.delete(KEY)
    if left:
        registered.hset(KEY, items=[each for pair in left.items() for each in pair])

    assert workers_seen(registered) == []
    assert registered.smembers("rq:workers") == {KEY.encode()}


def test_workers_are_counted_on_a_server_that_cannot_write(registered: redis.Redis) -> None:
    registered.sadd("rq:workers", "rq:worker:gone")

    with unwritable(registered):
        assert [seen.name for seen in workers_seen(registered)] == ["worker"]
