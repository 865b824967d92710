"""What became of a job is told to RQ in the end, whatever stands in the way."""

from collections.abc import Iterable

import pytest
import redis
from builders.rq import books_of, key_of, order_of, worker_of

from nous.jobs.base import BARE
from nous.jobs.rq.bookkeeping import FinishedJob, JobBookkeeper, StartedJob
from nous.jobs.rq.queue import RqJobs

ORDER = order_of(7)
JOB = key_of(ORDER)


@pytest.fixture
def begun(redis_client: redis.Redis) -> StartedJob:
    """A job that has begun."""
    RqJobs(redis_client, BARE, deadline=600, result_ttl=60, failure_ttl=60).submit(ORDER)
    books, queue = books_of(redis_client)
    [job] = books.begin(queue, most=1)
    return job


def test_what_could_not_be_filed_in_an_outage_is_filed_later(redis_client: redis.Redis, begun: StartedJob) -> None:
    class Cut(JobBookkeeper):
        is_cut = True

        def finish(self, returned: Iterable[FinishedJob]) -> None:
            if self.is_cut:
                raise redis.ConnectionError("cut")
            super().finish(returned)

    books = Cut(worker_of(redis_client), redis_client)

    books.returned(begun, "done")
    books.retry_pending()
    assert redis_client.hget(JOB, "status") == b"started"
    books.is_cut = False
    books.retry_pending()

    assert redis_client.hget(JOB, "status") == b"finished"
    assert redis_client.zcard("rq:wip:toy") == 0


def test_what_the_server_refused_to_write_is_filed_later(redis_client: redis.Redis, begun: StartedJob) -> None:
    books, _ = books_of(redis_client)

    redis_client.config_set("min-replicas-to-write", "1")
    try:
        books.returned(begun, "done")
        assert redis_client.hget(JOB, "status") == b"started"
    finally:
        redis_client.config_set("min-replicas-to-write", "0")
    books.retry_pending()

    assert redis_client.hget(JOB, "status") == b"finished"


def test_short_memory_does_not_keep_a_job_from_being_filed(redis_client: redis.Redis, begun: StartedJob) -> None:
    redis_client.config_set("maxmemory", "1")
    try:
        books_of(redis_client)[0].returned(begun, "done")
    finally:
        redis_client.config_set("maxmemory", "0")

    assert redis_client.hget(JOB, "status") == b"finished"


def test_a_job_that_was_taken_for_abandoned_and_then_returned_has_not_failed(
    redis_client: redis.Redis, begun: StartedJob
) -> None:
    redis_client.zadd("rq:failed:toy", {begun.id: 9999999999})
    redis_client.hset(JOB, "status", "failed")

    books_of(redis_client)[0].returned(begun, "done")

    assert redis_client.hget(JOB, "status") == b"finished"
    assert redis_client.zcard("rq:failed:toy") == 0
