"""Attempts as jobs of a worker called `toy`, a pool for them, and the books of an RQ worker called `worker`."""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from uuid import UUID

import redis
from rq.job import Job
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.domain.events import SessionEnded
from nous.jobs.base import JobSpec, QueueKind
from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.pool_worker import JobBookkeeper, PoolWorker
from nous.jobs.rq.queue import queue_named


def order_of(number: int, line: QueueKind = QueueKind.LIVE) -> JobSpec:
    """The first attempt at the event with that number."""
    ref = DeliveryRef(Subscription("toy", SessionEnded), Priority(line.value), f"{number}-1")
    return JobSpec(ref=ref, event_id=UUID(int=100 + number), session_id=f"s{number}", attempt=1, line=line)


def worker_of(client: redis.Redis) -> BaseWorker:
    """An RQ worker that does not work."""
    return BaseWorker([queue_named("toy", client)], name="worker", connection=client)


def pool_of(client: redis.Redis, runner: Any, *, concurrency: int, give_up_after: float = 600) -> PoolWorker:
    """A pool called `pool`."""
    return PoolWorker(
        [queue_named(line.queue("toy"), client) for line in (QueueKind.LIVE, QueueKind.BULK)],
        name="pool",
        connection=client,
        runner=runner,
        concurrency=concurrency,
        give_up_after=give_up_after,
    )


@contextmanager
def at_work(pool: PoolWorker) -> Generator[None]:
    """*pool* takes jobs, and in the end is stopped and has ended."""
    thread = Thread(target=pool.run)
    thread.start()
    try:
        yield
    finally:
        pool.stop()
        thread.join()


def books_of(client: redis.Redis) -> tuple[JobBookkeeper, Queue]:
    """The books of that worker, and its queue."""
    return JobBookkeeper(worker_of(client), client), queue_named("toy", client)


def fetched(client: redis.Redis, order: JobSpec) -> Job:
    return AllowListedJob.fetch(order.id, connection=client, serializer=JSONSerializer)


def key_of(order: JobSpec) -> str:
    return AllowListedJob.key_for(order.id)
