"""A quarantined job whose end a server does not take: nobody died of it."""

import redis
from builders.rq import order_of
from rq.serializers import JSONSerializer
from structlog.testing import capture_logs

from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.quarantine import QuarantineWorker
from nous.jobs.rq.queue import RqJobs, queue_named


def test_a_server_that_is_full_when_a_job_ends_does_not_end_its_process(
    jobs: RqJobs, redis_client: redis.Redis
) -> None:
    def filling(worker: str, lane: str, entry: str, attempt: int) -> str:
        del worker, lane, entry, attempt
        redis_client.config_set("maxmemory", 1)
        return "done"

    order = order_of(7)
    jobs.submit(order)
    queue = queue_named(order.queue, redis_client)
    worker = QuarantineWorker(
        [queue], name="worker", connection=redis_client, job_class=AllowListedJob, serializer=JSONSerializer
    )
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
