"""What nous relies on in RQ: its key names, that a submission can be repeated, and that foreign jobs are refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from builders.rq import fetched, order_of
from rq.exceptions import NoSuchJobError
from rq.job import JobStatus
from rq.registry import FailedJobRegistry
from rq.worker import SimpleWorker

from nous.bus.delivery_state import MOST
from nous.jobs.base import QueueKind
from nous.jobs.rq.job import FUNCTION, AllowListedJob
from nous.jobs.rq.queue import RqJobs, queue_named
from nous.runtime.attempt import AttemptFailed

ORDER = order_of(7)


def run_stock_worker(client: redis.Redis, runner: Callable[..., str] | None = None) -> None:
    class Bound(AllowListedJob):
        pass

    Bound.runner = staticmethod(runner) if runner else None
    SimpleWorker([queue_named("toy", client)], connection=client, job_class=Bound, serializer="json").work(burst=True)


def test_an_attempt_is_queued_once_however_often_it_is_submitted(jobs: RqJobs) -> None:
    assert [jobs.submit(ORDER), jobs.submit(ORDER, ORDER, order_of(1)), jobs.submit(order_of(1))] == [1, 1, 0]

    assert jobs.backlog("toy", QueueKind.LIVE) == 2
    assert jobs.is_waiting(ORDER)


def test_a_job_is_saved_as_rq_itself_saves_one(jobs: RqJobs, redis_client: redis.Redis) -> None:
    jobs.submit(ORDER)
    ours: Any = redis_client.hgetall(AllowListedJob.key_for(ORDER.id))

    queue_named("toy", redis_client).enqueue_call(FUNCTION, job_id="theirs", unique=True, result_ttl=60, failure_ttl=60)
    theirs: Any = redis_client.hgetall(AllowListedJob.key_for("theirs"))

    assert set(ours) == set(theirs)
    assert ours[b"status"] == theirs[b"status"]
    assert redis_client.smembers("rq:queues") == {b"rq:queue:toy"}


def test_a_job_says_what_it_is_about_and_holds_no_content(jobs: RqJobs, redis_client: redis.Redis) -> None:
    jobs.submit(ORDER)

    job = fetched(redis_client, ORDER)

    assert job.description == "session_ended of session s7"
    assert (job.func_name, tuple(job.args)) == (FUNCTION, ("toy", "live", "7-1", 1))
    assert job.retries_left is None


def test_a_job_that_was_taken_does_not_wait(jobs: RqJobs, redis_client: redis.Redis) -> None:
    jobs.submit(ORDER)
    queue = queue_named("toy", redis_client)

    # What a worker does first, and what is left when it dies then.
    redis_client.lmove(queue.key, queue.intermediate_queue_key)

    assert not jobs.is_waiting(ORDER)


@pytest.mark.parametrize("function", ["os.system", "nous.job._world"])
def test_a_job_that_names_a_foreign_function_is_refused(
    redis_client: redis.Redis, function: str, tmp_path: Any
) -> None:
    proof = tmp_path / "proof"
    job = queue_named("toy", redis_client).enqueue(function, f"touch {proof}")

    run_stock_worker(redis_client)

    assert job.get_status() == JobStatus.FAILED
    result = job.latest_result()
    assert result is not None
    assert "only nous.job.perform is run" in str(result.exc_string)
    assert not proof.exists()


@pytest.mark.parametrize(
    "field",
    [
        {"success_callback_name": "os.mkdir"},
        {"webhooks": '[{"url": "http://127.0.0.1:1/", "job_status": "finished"}]'},
        {"retries_left": "9", "retry_intervals": "[0]"},
        {"repeats_left": "9", "repeat_intervals": "[0]"},
    ],
    ids=lambda field: next(iter(field)),
)
def test_a_callback_that_somebody_put_into_a_job_is_not_called(
    jobs: RqJobs, redis_client: redis.Redis, field: Any
) -> None:
    jobs.submit(ORDER)
    redis_client.hset(AllowListedJob.key_for(ORDER.id), mapping=field)

    run_stock_worker(redis_client, lambda *_: "done")

    job = fetched(redis_client, ORDER)
    assert job.get_status() == JobStatus.FINISHED
    assert (job.success_callback, job.webhooks, job.retries_left, job.repeats_left) == (None, [], None, None)


def test_a_job_that_fails_is_not_tried_again_by_rq(jobs: RqJobs, redis_client: redis.Redis) -> None:
    ran: list[int] = []

    def fail(*words: Any) -> str:
        ran.append(words[-1])
        raise AttemptFailed("it is tried again by whoever sweeps")

    jobs.submit(ORDER)

    run_stock_worker(redis_client, fail)

    assert ran == [1]
    assert fetched(redis_client, ORDER).get_status() == JobStatus.FAILED
    assert jobs.backlog("toy", QueueKind.LIVE) == 0


def test_what_is_put_off_time_and_again_leaves_the_jobs_of_its_last_attempts(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    def put_off(*_: Any) -> str:
        raise AttemptFailed("the model is out")

    def left() -> tuple[list[str], int, int]:
        ids: list[str] = sorted(key.decode() for key in redis_client.scan_iter("rq:job:*"))
        results = len(list(redis_client.scan_iter("rq:results:*")))
        return ids, results, FailedJobRegistry(queue=queue_named("toy", redis_client)).get_job_count(cleanup=False)

    def attempts(first: int, last: int) -> None:
        for attempt in range(first, last):
            jobs.submit(replace(ORDER, attempt=attempt))
            run_stock_worker(redis_client, put_off)

    jobs.submit(order_of(8))  # another event's, which is nobody's business
    attempts(1, 3 * MOST)

    ids, results, failed = left()
    assert len(ids) == MOST + 1
    assert {int(each.rpartition("--")[2]) for each in ids if str(ORDER.event_id) in each} == set(
        range(2 * MOST, 3 * MOST)
    )
    assert (results, failed) == (MOST + 1, MOST + 1)


def test_a_job_that_is_not_over_stays_however_many_attempts_came_after_it(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    jobs.submit(ORDER)

    jobs.submit(replace(ORDER, attempt=1 + MOST))

    assert redis_client.exists(AllowListedJob.key_for(ORDER.id))


def test_losing_every_key_of_rq_makes_room_for_a_new_submission(jobs: RqJobs, redis_client: redis.Redis) -> None:
    jobs.submit(ORDER)
    redis_client.delete(*redis_client.scan_iter("rq:*"))

    assert not jobs.is_waiting(ORDER)
    with pytest.raises(NoSuchJobError):
        fetched(redis_client, ORDER)
    assert jobs.submit(ORDER)
