"""Live RQ workers and queue counts, read without writing to RQ's keys.

So it works while the server cannot write, too. RQ's registries clean up when asked to count, and cleaning up moves
jobs; its list of workers removes those whose keys have expired. Here their keys are read instead.

A pid identifies a process only in its own pid namespace, and only until the machine restarts. Containers share host
names and even pids, for different processes. So a worker records its place beside its pid, and readers in the same
place check whether its process runs. The others count as alive until their keys expire, since no heartbeat came.
"""

import os
import socket
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.worker import BaseWorker
from rq.worker_registration import get_keys
from typing_extensions import override

from nous.jobs.base import JobNames, QueueKind
from nous.jobs.rq.queue import queue_named
from nous.redis_support.errors import translated

PLACE = "place"
"""The field that our workers add to the hash of an RQ worker."""

_PROCESSES = Path("/proc")
_ENDED = frozenset({b"Z", b"X"})
"""States of a process that has ended, but whose parent has not collected its exit status."""


class PlacedWorker(BaseWorker):
    """RQ worker that records where its pid is valid."""

    @override
    def serialize(self) -> dict[str, Any]:
        return {**super().serialize(), PLACE: here()}


def here() -> str:
    """Return an id of this pid namespace on this boot of the machine; "" if it is unknown.

    Pids of two processes can be compared where their ids are equal.
    """
    if sys.platform == "darwin":  # no containers there; without a hardware address, getnode is random
        return f"{socket.gethostname()} {uuid.getnode():x}"
    try:
        if (_PROCESSES / "self").readlink().name != str(os.getpid()):
            return ""  # the mounted /proc belongs to another pid namespace
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {(_PROCESSES / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    """Return whether the process *pid* runs; true when in doubt."""
    try:
        os.kill(pid, 0)
        stat = (_PROCESSES / str(pid) / "stat").read_bytes()
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's, or no /proc
    state, *_ = stat.rpartition(b")")[2].split()  # the process name is in brackets, and may hold anything
    return state not in _ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """Number of waiting, running, finished and failed jobs of one RQ queue.

    Finished and failed jobs count as long as RQ keeps them.
    """

    name: str
    queued: int
    started: int
    finished: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """An RQ worker that lives, as far as can be seen.

    A process may run several.
    """

    name: str
    queues: tuple[str, ...]
    state: str
    pid: int
    host: str


def queues_of(worker: str, client: redis.Redis) -> list[QueueCount]:
    """Return the counts of a worker's queues, the default one first.

    *worker* is its name with the installation's prefix.
    """
    return [_counted(line.queue(worker), client) for line in QueueKind]


def workers_seen(client: redis.Redis, names: JobNames | None = None) -> list[WorkerSeen]:
    """Return every live RQ worker, sorted by name.

    With *names* only those of one installation. Where a worker's pid is valid here, its process is checked. Any other
    counts as alive as long as RQ believes so: its key expires when no heartbeat came for the period that the worker set
    itself, by default eight minutes.
    """
    with translated():
        keys = sorted(get_keys(connection=client))
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            rows: list[Any] = pipe.execute()
    place = here()
    found = [_seen(key, row) for key, row in zip(keys, rows, strict=True) if _is_alive(row, place)]
    return [each for each in found if names is None or names.owns_any(each.queues)]


def _is_alive(row: Mapping[bytes, bytes], place: str) -> bool:
    """Return whether a worker lives, as seen from *place*; true when in doubt."""
    if b"birth" not in row:
        return False  # its key has expired, and only counters were added since
    return not place or row.get(PLACE.encode()) != place.encode() or is_running(int(row[b"pid"]))


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
