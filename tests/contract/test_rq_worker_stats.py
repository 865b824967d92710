"""Who is counted among the workers, and that counting touches nothing."""

import os
import socket
from threading import Thread
from typing import Any

import pytest
import redis
from builders.full_disk import unwritable
from builders.rq import fetched, order_of, pool_of, worker_of
from rq.job import JobStatus
from structlog.testing import capture_logs

from nous.jobs.rq.queue import RqJobs
from nous.jobs.rq.worker_stats import PLACE, here, workers_seen

KEY = "rq:worker:worker"
NOBODY = 2**22 + 1
"""A pid that is never given."""


@pytest.fixture
def registered(redis_client: redis.Redis) -> redis.Redis:
    """A server that knows a stock worker."""
    worker_of(redis_client).register_birth()
    return redis_client


def test_a_stock_worker_is_seen_by_name(registered: redis.Redis) -> None:
    [seen] = workers_seen(registered)

    assert (seen.name, seen.queues, seen.pid, seen.host) == ("worker", ("toy",), os.getpid(), socket.gethostname())


@pytest.mark.parametrize(("place", "count"), [(here(), 0), ("elsewhere", 1), ("", 1)])
def test_one_whose_process_is_gone_is_not_seen_where_its_pid_means_something(
    registered: redis.Redis, place: str, count: int
) -> None:
    registered.hset(KEY, mapping={"pid": NOBODY, PLACE: place})

    assert len(workers_seen(registered)) == count


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


def test_a_pool_waits_in_few_words_for_a_server_that_cannot_write_and_then_goes_on(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any
) -> None:
    pool = pool_of(redis_client, _done, concurrency=1)
    thread = Thread(target=pool.run)
    with capture_logs() as said:
        thread.start()
        try:
            wait_until(lambda: [seen.state for seen in workers_seen(redis_client)] == ["idle"], "it to listen")
            assert redis_client.hget("rq:worker:pool", PLACE) == here().encode()
            with unwritable(redis_client):
                wait_until(lambda: len(_told(said)) >= 2, "it to meet the trouble twice")
            jobs.submit(order_of(1))
            wait_until(lambda: fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED, "it to go on")
        finally:
            pool.stop()
            thread.join()

    assert {each["event"] for each in said} <= {"pool.retry_scheduled", "pool.recovered"}
    assert all("cannot write to its disk" in each["error"] and "exc_info" not in each for each in _told(said))


def test_a_pool_tells_where_it_stumbled(redis_client: redis.Redis, wait_until: Any) -> None:
    redis_client.set("rq:queue:toy", "no list")
    pool = pool_of(redis_client, _done, concurrency=1)
    thread = Thread(target=pool.run)
    with capture_logs() as said:
        thread.start()
        try:
            wait_until(lambda: said, "it to stumble")
        finally:
            pool.stop()
            thread.join()

    assert said[0]["event"] == "pool.error"
    assert said[0]["exc_info"]


def _done(*_: Any) -> str:
    return "done"


def _told(said: list[Any]) -> list[Any]:
    return [each for each in said if each["log_level"] == "warning"]
