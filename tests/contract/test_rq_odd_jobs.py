"""Odd jobs, and odd keys in the way of RQ's books: they spoil nothing but themselves."""

from typing import Any

import pytest
import redis
from builders.rq import books_of, key_of, order_of, status_of

from nous.jobs.base import JobSpec
from nous.jobs.rq.bookkeeping import FinishedJob
from nous.jobs.rq.queue import RqJobs


@pytest.fixture
def order() -> JobSpec:
    return order_of(7)


@pytest.mark.parametrize("odd", ["abc", "", "1.5", "99999999999999999999", "-99"])
def test_an_odd_life_of_one_result_spoils_neither_it_nor_its_neighbours(
    jobs: RqJobs, redis_client: redis.Redis, odd: str
) -> None:
    jobs.submit(*map(order_of, range(3)))
    redis_client.hset(key_of(order_of(1)), "result_ttl", odd)
    books, queue = books_of(redis_client)

    failures = books.finish([FinishedJob(job, job.began, "done") for job in books.begin(queue, most=3)])

    assert failures == {}
    assert {status_of(redis_client, order_of(number)) for number in range(3)} == {b"finished"}
    assert redis_client.zcard("rq:wip:toy") == 0


def test_a_job_that_cannot_be_filed_is_named_and_its_neighbours_are_filed(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    jobs.submit(*map(order_of, range(3)))
    books, queue = books_of(redis_client)
    begun = books.begin(queue, most=3)
    redis_client.set(f"rq:results:{order_of(1).id}", "no stream")

    failures = books.finish([FinishedJob(job, job.began, "done") for job in begun])

    assert list(failures) == [order_of(1).id]
    assert "WRONGTYPE" in failures[order_of(1).id]
    assert status_of(redis_client, order_of(2)) == b"finished"
    assert redis_client.zcard("rq:wip:toy") == 0
    assert redis_client.scard("rq:worker:worker:executions") == 0


def test_a_job_that_is_filed_twice_is_counted_once(jobs: RqJobs, redis_client: redis.Redis, order: JobSpec) -> None:
    jobs.submit(order)
    books, queue = books_of(redis_client)
    returned = [FinishedJob(job, job.began, "done") for job in books.begin(queue, most=1)]

    books.finish(returned)
    books.finish(returned)

    assert redis_client.hget("rq:worker:worker", "successful_job_count") == b"1"
    assert redis_client.xlen(f"rq:results:{order.id}") == 1


@pytest.mark.parametrize("key", ["rq:wip:toy", "rq:worker:worker:executions"])
def test_nothing_is_taken_when_it_could_not_be_said_to_have_begun(
    jobs: RqJobs, redis_client: redis.Redis, order: JobSpec, key: str
) -> None:
    jobs.submit(order)
    books, queue = books_of(redis_client)
    redis_client.set(key, "in the way")

    with pytest.raises(redis.ResponseError, match=f"{key} should be a .*; delete it"):
        books.begin(queue, most=1)

    assert jobs.is_waiting(order)


@pytest.mark.parametrize("content", ["a string", {b"data": b"x"}])
def test_what_is_no_job_of_ours_does_not_cost_those_that_are_taken_with_it(
    jobs: RqJobs, redis_client: redis.Redis, content: Any
) -> None:
    jobs.submit(order_of(1))
    foreign = b"rq:job:\xff\xfe"
    if isinstance(content, str):
        redis_client.set(foreign, content)
    else:
        redis_client.hset(foreign, mapping=content)
    redis_client.rpush("rq:queue:toy", b"\xff\xfe")
    jobs.submit(order_of(2))
    books, queue = books_of(redis_client)

    begun = {job.id for job in books.begin(queue, most=3)}

    assert begun == {order_of(1).id, order_of(2).id}
    assert redis_client.zcard("rq:wip:toy") == 2
