"""The books that the pool keeps are those that RQ's own worker keeps: the same keys, fields and lives."""

import re
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Timer
from typing import Any

import pytest
import redis
from builders.rq import books_of, fetched, key_of, order_of
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker, SimpleWorker
from structlog.testing import capture_logs

from nous.jobs.base import JobSpec
from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.pool_worker import PoolWorker, QuarantineWorker, StartedJob, is_to_blame
from nous.jobs.rq.queue import RqJobs, queue_named

Keys = dict[str, Any]
Runner = Callable[..., str]
_OF_A_RUN = re.compile(r"[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z|1\d{9}(\.\d+)?(-\d+)?")
"""What differs from run to run: ids of executions and times."""


@pytest.fixture
def order() -> JobSpec:
    return order_of(7)


@pytest.fixture
def begun(jobs: RqJobs, redis_client: redis.Redis, order: JobSpec) -> StartedJob:
    """A job that has begun."""
    jobs.submit(order)
    books, queue = books_of(redis_client)
    [job] = books.begin(queue, most=1)
    return job


def by_rq(client: redis.Redis, runner: Runner) -> None:
    class Bound(AllowListedJob):
        pass

    class Beating(SimpleWorker):
        """Expects to be heard of as RQ's forking worker does, which beats while its job runs, as the pool does."""

        def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
            return BaseWorker.get_heartbeat_ttl(self, job, working_time)

    Bound.runner = staticmethod(runner)
    queue = Queue("toy", connection=client, serializer=JSONSerializer, job_class=Bound)
    Beating([queue], name="worker", connection=client, job_class=Bound, serializer="json").work(burst=True)


def by_the_pool(client: redis.Redis, runner: Runner) -> None:
    def run_and_stop(worker: str, priority: str, entry: str, attempt: int) -> str:
        try:
            return runner(worker, priority, entry, attempt)
        finally:
            pool.stop()

    queues = [queue_named("toy", client)]
    pool = PoolWorker(queues, name="worker", connection=client, runner=run_and_stop, concurrency=1, give_up_after=600)
    pool.run()


def keys_of(client: Any) -> Keys:
    """Every key of RQ's but the worker's own: what it holds, and about how long it lives. Stars for what varies."""
    keys = sorted(key for key in client.scan_iter("rq:*") if not key.startswith(b"rq:worker:"))
    return {_OF_A_RUN.sub("*", key.decode()): (_content(client, key), _life(client.ttl(key))) for key in keys}


def _content(client: Any, key: bytes) -> Any:
    match client.type(key):
        case b"hash":
            return _starred(client.hgetall(key))
        case b"zset":
            return _starred(client.zrange(key, 0, -1, withscores=True))
        case b"stream":
            return _starred([fields for _, fields in client.xrange(key)])
        case b"set":
            return _starred(client.smembers(key))
        case b"list":
            return _starred(client.lrange(key, 0, -1))
        case _:
            return _starred(client.get(key))


def _starred(value: Any) -> Any:
    match value:
        case dict():
            return {name.decode(): _starred(each) for name, each in value.items()}
        case list() | tuple() | set():
            return [_starred(each) for each in value]
        case bytes():
            return _OF_A_RUN.sub("*", value.decode("utf-8", "replace"))
        case _:
            return _OF_A_RUN.sub("*", str(value))


def _life(ttl: int) -> int:
    """Seconds, but for the few that a test takes."""
    return -(-ttl // 10) * 10


def filed(jobs: RqJobs, client: redis.Redis, order: JobSpec, run: Any, *, error: str = "") -> tuple[Keys, Keys]:
    """RQ's books while a job runs, and when it has ended."""
    client.flushall()
    jobs.submit(order)
    during: Keys = {}

    def runner(*_: Any) -> str:
        during.update(keys_of(client))
        if error:
            raise ValueError(error)
        return "done"

    run(client, runner)
    return during, keys_of(client)


def test_a_job_that_runs_and_returns_is_filed_as_rq_files_it(
    jobs: RqJobs, redis_client: redis.Redis, order: JobSpec
) -> None:
    ours, theirs = (filed(jobs, redis_client, order, run) for run in (by_the_pool, by_rq))

    assert ours == theirs
    during, after = ours
    assert during[f"rq:job:{order.id}"][0]["status"] == "started"
    assert after[f"rq:job:{order.id}"][0]["status"] == "finished"
    assert "rq:finished:toy" in after


def test_a_job_that_fails_is_filed_as_rq_files_it(jobs: RqJobs, redis_client: redis.Redis, order: JobSpec) -> None:
    (_, ours), (_, theirs) = (filed(jobs, redis_client, order, run, error="oops") for run in (by_the_pool, by_rq))

    for books in (ours, theirs):  # the traceback names the worker's own lines
        [[result], _] = books[f"rq:results:{order.id}"]
        assert result.pop("exc_string")
    assert ours == theirs
    assert ours[f"rq:job:{order.id}"][0]["status"] == "failed"


def test_a_worker_says_what_it_has_in_flight_and_counts_what_it_has_done(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    jobs.submit(*map(order_of, range(5)))
    books, queue = books_of(redis_client)
    begun = books.begin(queue, most=3)

    assert [job.id for job in begun] == [order_of(number).id for number in range(3)]
    assert redis_client.scard("rq:worker:worker:executions") == 3

    for job in begun:
        books.returned(replace(job, began=job.began - timedelta(seconds=2)), "done")

    client: Any = redis_client
    count, seconds = map(float, client.hmget("rq:worker:worker", "successful_job_count", "total_working_time"))
    assert redis_client.scard("rq:worker:worker:executions") == 0
    assert (count, round(seconds)) == (3, 6)
    assert [fetched(redis_client, order_of(number)).get_status() for number in (0, 3)] == ["finished", "queued"]


def test_a_beat_keeps_a_running_job_from_being_taken_for_abandoned(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob
) -> None:
    books, queue = books_of(redis_client)
    for key in (f"rq:execution:{begun.id}:{begun.execution}", f"rq:executions:{begun.id}"):
        redis_client.expire(key, 5)
    redis_client.zadd("rq:wip:toy", {f"{begun.id}:{begun.execution}": 1})

    books.beat([begun])

    assert StartedJobRegistry(queue=queue).get_expired_job_ids() == []
    assert [execution.id for execution in fetched(redis_client, order).get_executions()] == [begun.execution]
    assert redis_client.ttl(f"rq:execution:{begun.id}:{begun.execution}") > 60


@pytest.mark.parametrize("say", ["beat", "finish"])
def test_a_job_that_was_deleted_while_it_ran_is_not_brought_back(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob, say: str
) -> None:
    books, _ = books_of(redis_client)
    fetched(redis_client, order).delete()

    if say == "beat":
        books.beat([begun])
    else:
        books.returned(begun, "done")

    assert list(redis_client.scan_iter(f"rq:*{order.id}*")) == []
    assert redis_client.zcard("rq:wip:toy") == 0


def test_a_job_that_is_filed_twice_is_counted_once(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob
) -> None:
    books, _ = books_of(redis_client)

    books.returned(begun, "done")
    books.returned(begun, "done")

    assert redis_client.hget("rq:worker:worker", "successful_job_count") == b"1"
    assert redis_client.xlen(f"rq:results:{order.id}") == 1


def test_what_the_server_refused_to_write_is_filed_once_it_can(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob
) -> None:
    books, _ = books_of(redis_client)
    able_again = Timer(0.2, redis_client.config_set, ("min-replicas-to-write", "0"))

    redis_client.config_set("min-replicas-to-write", "1")
    able_again.start()
    books.returned(begun, "done")
    able_again.join()

    assert redis_client.hget(key_of(order), "status") == b"finished"


def test_short_memory_does_not_keep_a_job_from_being_filed(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob
) -> None:
    redis_client.config_set("maxmemory", "1")
    try:
        books_of(redis_client)[0].returned(begun, "done")
    finally:
        redis_client.config_set("maxmemory", "0")

    assert redis_client.hget(key_of(order), "status") == b"finished"


def test_a_job_that_was_taken_for_abandoned_and_then_returned_has_not_failed(
    redis_client: redis.Redis, order: JobSpec, begun: StartedJob
) -> None:
    redis_client.zadd("rq:failed:toy", {begun.id: 9999999999})
    redis_client.hset(key_of(order), "status", "failed")

    books_of(redis_client)[0].returned(begun, "done")

    assert redis_client.hget(key_of(order), "status") == b"finished"
    assert redis_client.zcard("rq:failed:toy") == 0


def test_a_server_that_is_full_when_a_job_ends_does_not_end_its_process(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    def filling(worker: str, priority: str, entry: str, attempt: int) -> str:
        del worker, priority, entry, attempt
        redis_client.config_set("maxmemory", 1)
        return "done"

    order = order_of(7)
    jobs.submit(order)
    queue = queue_named(order.queue, redis_client)
    job = fetched(redis_client, order)
    worker = QuarantineWorker(
        [queue], name="worker", connection=redis_client, job_class=AllowListedJob, serializer=JSONSerializer
    )
    worker.runner = filling
    execution = worker.prepare_execution(job)
    try:
        with capture_logs() as said:
            is_done = worker.perform_job(job, queue, execution)
    finally:
        redis_client.config_set("maxmemory", 0)

    assert not is_done
    assert [each["job_id"] for each in said] == [order.id]


@pytest.mark.parametrize(
    ("status", "expected"),
    [(None, True), (signal.SIGKILL, True), (1 << 8, True), (signal.SIGTERM, False), (signal.SIGHUP, False)],
    ids=["hung", "killed", "exited", "asked to end", "hung up on"],
)
def test_a_job_is_blamed_for_the_end_of_its_process_unless_somebody_asked_for_it(
    status: int | None, *, expected: bool
) -> None:
    assert is_to_blame(status) == expected
