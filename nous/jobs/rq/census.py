"""Who works on what, read from RQ's own keys without touching them.

RQ's registries clean up when they are asked to count, and cleaning up moves jobs; here their keys are counted instead.
"""

from dataclasses import dataclass
from typing import Any

import redis
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.worker import BaseWorker

from nous.bus.redis_errors import translated
from nous.jobs.base import Line
from nous.jobs.rq.queue import queue_named


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """One RQ queue and how many of its jobs wait, run, have finished and have failed, as far as RQ remembers."""

    name: str
    queued: int
    started: int
    finished: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """A live RQ worker process."""

    name: str
    queues: tuple[str, ...]
    state: str
    pid: int | None
    host: str | None


def queues_of(worker: str, client: redis.Redis) -> list[QueueCount]:
    """The queues of *worker*, its usual one first."""
    return [_counted(line.queue(worker), client) for line in Line]


def workers_seen(client: redis.Redis) -> list[WorkerSeen]:
    """Every RQ worker that is registered on the server, by name."""
    with translated():
        found = BaseWorker.all(connection=client)
    seen = (
        WorkerSeen(
            name=each.name,
            queues=tuple(each.queue_names()),
            state=str(each.get_state()),
            pid=each.pid,
            host=each.hostname,
        )
        for each in found
    )
    return sorted(seen, key=lambda each: each.name)


def _counted(name: str, client: Any) -> QueueCount:
    queue = queue_named(name, client)
    keys = [registry(queue=queue).key for registry in (StartedJobRegistry, FinishedJobRegistry, FailedJobRegistry)]
    with translated():
        started, finished, failed = (int(client.zcard(key)) for key in keys)
        queued = int(client.llen(queue.key))
    return QueueCount(name=name, queued=queued, started=started, finished=finished, failed=failed)
