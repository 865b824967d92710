"""What a quarantined job is blamed for, and what not."""

import signal

import pytest
import redis
from builders.rq import order_of
from rq.queue import Queue
from rq.serializers import JSONSerializer
from structlog.testing import capture_logs

from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.pool_worker import QuarantineWorker, is_to_blame
from nous.jobs.rq.queue import RqJobs, queue_named


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
    worker = _worker(queue, redis_client)
    worker.runner = filling
    job = AllowListedJob.fetch(order.id, connection=redis_client, serializer=JSONSerializer)
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


def _worker(queue: Queue, client: redis.Redis) -> QuarantineWorker:
    return QuarantineWorker(
        [queue], name="worker", connection=client, job_class=AllowListedJob, serializer=JSONSerializer
    )
