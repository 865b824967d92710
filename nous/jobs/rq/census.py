"""Who works on what, read from RQ's own keys without touching them: that works while the server cannot write, too.

RQ's registries clean up when they are asked to count, and cleaning up moves jobs; its list of workers removes those
whose keys have expired. Here their keys are read instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import redis
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.utils import as_text, now, utcparse
from rq.worker import BaseWorker
from rq.worker_registration import get_keys

from nous.bus.redis_errors import translated
from nous.jobs.base import JobNames, Line
from nous.jobs.rq.presence import PLACE, Sign, age_of, here, lives
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
    """An RQ worker, one of those that a process may run, that lives as far as can be told."""

    name: str
    queues: tuple[str, ...]
    state: str
    pid: int | None
    host: str | None


def queues_of(worker: str, client: redis.Redis) -> list[QueueCount]:
    """The queues of *worker*, as its installation calls it, its usual one first."""
    return [_counted(line.queue(worker), client) for line in Line]


def workers_seen(client: redis.Redis, names: JobNames | None = None) -> list[WorkerSeen]:
    """Every RQ worker that lives, by name: all there are, or with *names* those of one installation.

    Of one whose pid means something here it is asked whether its process runs. Any other is believed as long as RQ
    believes it: its key expires when it was not heard of for the time that it named itself, RQ's default being eight
    minutes.
    """
    at, place = now(), here()
    living = [seen for seen, sign in _registered(client, at) if lives(sign, at=place, age_of=age_of)]
    return [seen for seen in living if names is None or names.owns_any(seen.queues)]


def _registered(client: redis.Redis, at: datetime) -> Iterator[tuple[WorkerSeen, Sign]]:
    """Who is on RQ's list, by name, and the last sign of life each has given by the time *at*."""
    with translated():
        keys = sorted(get_keys(connection=client))
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
                pipe.ttl(key)
            told: list[Any] = pipe.execute()
    for key, row, expires_in in zip(keys, told[::2], told[1::2], strict=True):
        found = {as_text(name): as_text(value) for name, value in row.items()}
        if "last_heartbeat" in found and expires_in >= 0:  # else only counts are left, of one whose key has expired
            sign = Sign(_pid(found), found.get(PLACE, ""), (at - utcparse(found["last_heartbeat"])).total_seconds())
            yield _seen(key.removeprefix(BaseWorker.redis_worker_namespace_prefix), found), sign


def _seen(name: str, found: Mapping[str, str]) -> WorkerSeen:
    queues = found.get("queues")
    return WorkerSeen(
        name=name,
        queues=tuple(queues.split(",")) if queues else (),
        state=found.get("state", "?"),
        pid=_pid(found),
        host=found.get("hostname") or None,
    )


def _pid(found: Mapping[str, str]) -> int | None:
    pid = found.get("pid", "")
    return int(pid) if pid.isdecimal() else None


def _counted(name: str, client: Any) -> QueueCount:
    queue = queue_named(name, client)
    keys = [registry(queue=queue).key for registry in (StartedJobRegistry, FinishedJobRegistry, FailedJobRegistry)]
    with translated():
        started, finished, failed = (int(client.zcard(key)) for key in keys)
        queued = int(client.llen(queue.key))
    return QueueCount(name=name, queued=queued, started=started, finished=finished, failed=failed)
