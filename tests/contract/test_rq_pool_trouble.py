"""A pool whose server is in trouble."""

import logging
from threading import Thread
from typing import Any

import pytest
import redis
from builders.full_disk import unwritable
from builders.rq import fetched, order_of, pool_of
from redis.client import PubSub
from rq.job import JobStatus
from structlog.testing import capture_logs

from nous.jobs.rq.queue import RqJobs
from nous.jobs.rq.worker_stats import workers_seen


def _done(*_: Any) -> str:
    return "done"


def test_a_pool_that_starts_while_nothing_can_be_written_tells_it_in_a_line_and_goes_on_once_it_can(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any
) -> None:
    jobs.submit(order_of(1))
    pool = pool_of(redis_client, _done, concurrency=1)
    thread = Thread(target=pool.run)
    with capture_logs() as logs:
        try:
            with unwritable(redis_client):
                thread.start()
                wait_until(lambda: logs, "it to tell")
                assert thread.is_alive()
            wait_until(lambda: not jobs.is_waiting(order_of(1)), "it to go on")
            assert [seen.name for seen in workers_seen(redis_client)] == ["pool"]
        finally:
            pool.stop()
            thread.join()

    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED
    assert {line["event"] for line in logs} == {"pool.retry_scheduled", "pool.recovered"}
    assert workers_seen(redis_client) == []


def test_a_pool_that_never_came_to_work_can_be_stopped_and_leaves_nothing(redis_client: redis.Redis) -> None:
    pool = pool_of(redis_client, _done, concurrency=1)
    pool.stop()

    pool.run()

    assert redis_client.keys("rq:worker*") == []


def test_a_pool_whose_registration_got_an_answer_that_was_lost_registers_again(
    jobs: RqJobs, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:

    def runner(*_: Any) -> str:
        pool.stop()
        return "done"

    pool = pool_of(redis_client, runner, concurrency=1)
    register, lost = pool.register_birth, [redis.ConnectionError("the answer was lost")]

    def register_birth() -> None:
        register()
        if lost:
            raise lost.pop()

    monkeypatch.setattr(pool, "register_birth", register_birth)
    jobs.submit(order_of(1))

    pool.run()

    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED


@pytest.mark.parametrize(
    "trouble", [redis.ConnectionError("gone"), redis.ResponseError("MISCONF Errors writing to the AOF file")]
)
def test_what_listens_for_the_calls_of_rq_outlives_a_server_in_trouble_and_says_nothing(
    trouble: redis.RedisError,
    redis_client: redis.Redis,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    wait_until: Any,
) -> None:
    monkeypatch.setattr("nous.jobs.rq.pool_worker._DEAF", 0)
    listened: list[str] = []
    listen = PubSub.get_message

    def troubled(pubsub: PubSub, **options: Any) -> Any:
        listened.append("once more")
        if len(listened) < 3:
            raise trouble
        return listen(pubsub, **options)

    monkeypatch.setattr(PubSub, "get_message", troubled)
    pool = pool_of(redis_client, _done, concurrency=1)
    thread = Thread(target=pool.run)
    with caplog.at_level(logging.WARNING, logger="rq.worker"):
        thread.start()
        try:
            wait_until(lambda: len(listened) >= 3, "it to listen again")
        finally:
            pool.stop()
            thread.join()

    assert caplog.records == []
