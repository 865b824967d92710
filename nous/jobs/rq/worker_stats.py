"""List live RQ workers, and count the jobs of queues by state, writing nothing to Redis.

So it works while the server cannot write, too. RQ's registries clean up when asked to count, and cleaning up moves
jobs; its list of workers removes those whose keys have expired. Here their keys are read instead.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import redis
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.worker import BaseWorker
from rq.worker_registration import get_keys

from nous.jobs.base import JobNames, QueueKind
from nous.jobs.rq.queue import queue_named
from nous.redis_support.errors import translated


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """Jobs of one RQ queue, by state; ended ones count as long as RQ keeps them."""

    name: str
    queued: int
    started: int
    finished: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """An RQ worker that lives, as far as can be seen; a process may run several."""

    name: str
    queues: tuple[str, ...]
    state: str
    pid: int
    host: str

    @property
    def is_dispatching(self) -> bool:
        """Return whether it is a `nous worker` (named by queue, host, process), which dispatches."""
        return self.name.startswith(f"{self.queues[0]}-{self.host}-{self.pid}-")


def queues_of(worker: str, client: redis.Redis) -> list[QueueCount]:
    """Return the counts of the queues of *worker* (with prefix), the default one first."""
    return [_counted(line.queue(worker), client) for line in QueueKind]


def workers_seen(client: redis.Redis, names: JobNames | None = None) -> list[WorkerSeen]:
    """Return every live RQ worker, sorted by name; with *names* only those of one installation.

    A worker counts as alive until its key expires, since no heartbeat came: ours for a minute, RQ's own for eight.
    """
    with translated():
        keys = sorted(get_keys(connection=client))
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            rows: list[Any] = pipe.execute()
    # Without a birth, its key has expired, and only counters were added since.
    found = [_seen(key, row) for key, row in zip(keys, rows, strict=True) if b"birth" in row]
    return [each for each in found if names is None or names.owns_any(each.queues)]


def dispatched(workers: Iterable[WorkerSeen]) -> Iterator[str]:
    """Yield the queues for which *workers* dispatch, once for each worker."""
    return (queue for each in workers if each.is_dispatching for queue in each.queues)


def _seen(key: str, row: Mapping[bytes, bytes]) -> WorkerSeen:
    found = {name.decode(): value.decode() for name, value in row.items()}
    return WorkerSeen(
        name=key.removeprefix(BaseWorker.redis_worker_namespace_prefix),
        queues=tuple(found["queues"].split(",")),
        state=found.get("state", "?"),
        pid=int(found["pid"]),
        host=found["hostname"],
    )


def _counted(name: str, client: Any) -> QueueCount:
    queue = queue_named(name, client)
    keys = [registry(queue=queue).key for registry in (StartedJobRegistry, FinishedJobRegistry, FailedJobRegistry)]
    with translated():
        started, finished, failed = (int(client.zcard(key)) for key in keys)
        queued = int(client.llen(queue.key))
    return QueueCount(name=name, queued=queued, started=started, finished=finished, failed=failed)
