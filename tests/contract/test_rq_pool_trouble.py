"""A pool whose server is in trouble."""

from threading import Thread
from typing import Any

import pytest
import redis
from builders.full_disk import unwritable
from builders.rq import fetched, order_of, pool_of
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
    assert {line["event"] for line in logs} == {"task.retry_scheduled", "task.recovered"}
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
