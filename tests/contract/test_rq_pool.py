"""What the pool promises: many jobs at once, none lost, none run that is not ours, and an end that waits for all."""

import os
import socket
from contextlib import ExitStack
from threading import Event, Thread
from typing import Any

import pytest
import redis
from builders.full_disk import unwritable
from builders.rq import at_work, fetched, key_of, order_of, pool_of, worker_of
from rq.job import JobStatus
from rq.suspension import resume, suspend
from structlog.testing import capture_logs

from nous.jobs.base import QueueKind
from nous.jobs.rq.queue import RqJobs, queue_named, queues_of, workers_seen


def test_a_pool_runs_jobs_beside_each_other_and_shows_itself(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any
) -> None:
    begun: list[str] = []
    go_on: list[bool] = []

    def runner(worker: str, priority: str, entry: str, attempt: int) -> str:
        begun.append(f"{worker} {priority} {entry} {attempt}")
        wait_until(lambda: go_on, "the test to go on")
        return "done"

    orders = [order_of(number) for number in range(8)]
    for order in orders:
        jobs.submit(order)
    with at_work(pool_of(redis_client, runner, concurrency=8)):
        wait_until(lambda: len(begun) == 8, "eight jobs to begin")
        [seen] = workers_seen(redis_client)
        [live, *_] = queues_of("toy", redis_client)
        assert (seen.name, seen.state) == ("pool", "busy")
        assert 0 < redis_client.ttl("rq:worker:pool") <= 60, "a worker that is killed is shown for a minute at most"
        assert (live["queued"], live["started"]) == (0, 8)
        go_on.append(True)

    assert [fetched(redis_client, order).get_status() for order in orders] == [JobStatus.FINISHED] * 8
    assert redis_client.llen("rq:queue:toy:intermediate") == 0
    assert workers_seen(redis_client) == []


def test_a_pool_that_is_stopped_finishes_what_is_in_flight_and_takes_nothing_new(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    waits: list[bool] = []

    def runner(worker: str, priority: str, entry: str, attempt: int) -> str:
        pool.stop()
        thread.join(2)  # it would not take as long to leave without this job
        waits.append(thread.is_alive())
        return f"{worker} {priority} {entry} {attempt}"

    pool = pool_of(redis_client, runner, concurrency=1)
    jobs.submit(order_of(1))
    jobs.submit(order_of(2))
    thread = Thread(target=pool.run)

    thread.start()
    thread.join()

    assert waits == [True]
    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED
    assert jobs.is_waiting(order_of(2))


@pytest.mark.parametrize("function", ["os.system", "nous.job._world"])
def test_a_job_that_names_a_foreign_function_is_refused_and_the_pool_goes_on(
    jobs: RqJobs, redis_client: redis.Redis, function: str
) -> None:
    foreign = queue_named("toy", redis_client).enqueue(function, "touch here")
    jobs.submit(order_of(1))

    _run_until_called(redis_client)

    assert foreign.get_status() == JobStatus.FAILED
    result = foreign.latest_result()
    assert result is not None
    assert "only nous.job.perform is run" in str(result.exc_string)
    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED


@pytest.mark.parametrize("data", [b"", b"\x80\x05N.", b"[]", b"7", b'["nous.job.perform", null, [1], {}]'])
def test_a_job_whose_call_cannot_be_read_is_filed_as_failed_and_the_pool_goes_on(
    jobs: RqJobs, redis_client: redis.Redis, data: bytes
) -> None:
    jobs.submit(order_of(1), order_of(2))
    redis_client.hset(key_of(order_of(1)), "data", data)

    _run_until_called(redis_client)

    assert redis_client.hget(key_of(order_of(1)), "status") == b"failed"
    assert fetched(redis_client, order_of(2)).get_status() == JobStatus.FINISHED


def test_a_handler_that_tries_to_exit_is_filed_as_failed(jobs: RqJobs, redis_client: redis.Redis) -> None:
    def runner(*_: Any) -> str:
        pool.stop()
        raise SystemExit(3)

    pool = pool_of(redis_client, runner, concurrency=1, give_up_after=5)
    jobs.submit(order_of(1))

    pool.run()

    result = fetched(redis_client, order_of(1)).latest_result()
    assert result is not None
    assert "SystemExit" in str(result.exc_string)


def test_a_handler_that_hangs_keeps_neither_its_place_nor_the_pool_from_ending(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    for_ever = Event()

    def runner(_worker: str, _priority: str, entry: str, _attempt: int) -> str:
        if entry == "1-1":
            for_ever.wait(20)  # as good as for ever, and the test ends where the pool waits for it
        else:
            pool.stop()
        return "done"

    pool = pool_of(redis_client, runner, concurrency=1, give_up_after=0.1)
    jobs.submit(order_of(1), order_of(2))

    try:
        pool.run()
    finally:
        for_ever.set()

    hung, neighbour = (fetched(redis_client, order_of(number)) for number in (1, 2))
    assert (hung.get_status(), neighbour.get_status()) == (JobStatus.FAILED, JobStatus.FINISHED)
    result = hung.latest_result()
    assert result is not None
    assert "not done after 0.1 s" in str(result.exc_string)


def test_a_pool_that_is_suspended_takes_nothing_until_it_may_go_on(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nous.jobs.rq.pool_worker._BEAT", 0.05)
    suspend(redis_client)
    jobs.submit(order_of(1))

    with at_work(pool_of(redis_client, _done, concurrency=1)):
        wait_until(lambda: [seen.state for seen in workers_seen(redis_client)] == ["suspended"], "it to be suspended")
        assert jobs.is_waiting(order_of(1))
        resume(redis_client)
        wait_until(lambda: not jobs.is_waiting(order_of(1)), "it to go on")

    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED


@pytest.mark.parametrize("gone", ["rq:worker:pool", "rq:workers", "rq:workers:toy"])
def test_a_pool_whose_keys_were_deleted_shows_itself_again_although_it_is_busy(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setattr("nous.jobs.rq.pool_worker._BEAT", 0.05)
    go_on = Event()

    def runner(*_: Any) -> str:
        go_on.wait(30)
        return "done"

    jobs.submit(order_of(1))
    with at_work(pool_of(redis_client, runner, concurrency=1)):
        wait_until(lambda: not jobs.is_waiting(order_of(1)), "the job to begin")
        redis_client.delete(gone)
        redis_client.hincrby("rq:worker:pool", "successful_job_count", 1)  # as a job that ends does
        shown = [("busy", ("toy", "toy-bulk"))]
        wait_until(
            lambda: [(seen.state, seen.queues) for seen in workers_seen(redis_client)] == shown, "it to show itself"
        )
        go_on.set()


def test_live_jobs_come_before_bulk_ones(jobs: RqJobs, redis_client: redis.Redis) -> None:
    ran: list[str] = []

    def runner(_worker: str, priority: str, entry: str, _attempt: int) -> str:
        ran.append(f"{priority} {entry}")
        if len(ran) == 4:
            pool.stop()
        return "done"

    pool = pool_of(redis_client, runner, concurrency=1)
    jobs.submit(order_of(1, QueueKind.BULK), order_of(2, QueueKind.BULK), order_of(3), order_of(4))

    pool.run()

    assert ran == ["live 3-1", "live 4-1", "bulk 1-1", "bulk 2-1"]


def test_a_pool_that_starts_while_nothing_can_be_written_tells_it_in_a_line_and_goes_on_once_it_can(
    jobs: RqJobs, redis_client: redis.Redis, wait_until: Any
) -> None:
    jobs.submit(order_of(1))
    with capture_logs() as logs, ExitStack() as stack:
        with unwritable(redis_client):
            stack.enter_context(at_work(pool_of(redis_client, _done, concurrency=1)))
            wait_until(lambda: logs, "it to tell")
        wait_until(lambda: not jobs.is_waiting(order_of(1)), "it to go on")
        assert [seen.name for seen in workers_seen(redis_client)] == ["pool"]

    assert fetched(redis_client, order_of(1)).get_status() == JobStatus.FINISHED
    assert {line["event"] for line in logs} == {"task.retry_scheduled", "task.recovered"}
    assert workers_seen(redis_client) == []


def _run_until_called(client: redis.Redis) -> None:
    """Run a pool until the first of our own attempts has been made."""

    def runner(*_: Any) -> str:
        pool.stop()
        return "done"

    pool = pool_of(client, runner, concurrency=1)
    pool.run()


def _done(*_: Any) -> str:
    return "done"


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
