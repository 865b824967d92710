"""Live RQ workers and queue counts, read without writing to RQ's keys.

So it works while the server cannot write, too. RQ's registries clean up when asked to count, and cleaning up moves
jobs; its list of workers removes those whose keys have expired. Here their keys are read instead.

A pid identifies a process only in its own pid namespace, and only until the machine restarts. Containers share host
names and even pids, for different processes. So a worker records its place beside its pid, and readers in the same
place check whether its process runs. For the others the last heartbeat is known, and RQ drops them when that is too
old.
"""

import math
import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import redis
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry
from rq.utils import as_text, now, utcparse
from rq.worker import BaseWorker
from rq.worker_registration import get_keys

from nous.jobs.base import JobNames, QueueKind
from nous.jobs.rq.queue import queue_named
from nous.redis_support.errors import translated

PLACE = "place"
"""The field that our workers add to the hash of an RQ worker."""

_SLACK = 1.0
"""Seconds by which a process may seem younger than its heartbeat: the clocks are read one after the other."""
_ENDED = frozenset("ZX")
"""States of a process that has ended, but whose parent has not collected its exit status."""
_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class LivenessRecord:
    """Last heartbeat of a process.

    *age* is in seconds. *place* is the value of `here` in that process.
    """

    pid: int | None
    place: str
    age: float


def lives(sign: LivenessRecord, *, at: str, age_of: Callable[[int], float | None]) -> bool:
    """Return whether the process lives, as seen from the place *at*; true when in doubt.

    *age_of* returns the seconds that a process has run, and None if it is gone. A process that is younger than the
    heartbeat has only reused the pid.
    """
    if sign.pid is None or not sign.place or sign.place != at:
        return True
    age = age_of(sign.pid)
    return age is not None and age > sign.age - _SLACK


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


def age_of(pid: int) -> float | None:
    """Return the seconds that the process *pid* has run.

    None if it is gone, infinite where the system does not say.
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except PermissionError:
        pass  # another user's, so it exists
    try:
        stat = (_PROCESSES / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:
        return math.inf
    return age_told(stat, now=time.clock_gettime(time.CLOCK_BOOTTIME), ticks=os.sysconf("SC_CLK_TCK"))


def age_told(stat: str, *, now: float, ticks: int) -> float | None:
    """Return a process's age in seconds from its line *stat* in /proc.

    *now* is in seconds since boot. None if the process has ended.
    """
    state, *numbers = stat.rpartition(")")[2].split()  # the process name is in brackets, and may hold anything
    if state in _ENDED:
        return None
    age = now - int(numbers[18]) / ticks  # the 22nd field of proc(5)
    return age if age >= 0 else math.inf


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
    pid: int | None
    host: str | None


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
    at, place = now(), here()
    living = [seen for seen, sign in _registered(client, at) if lives(sign, at=place, age_of=age_of)]
    return [seen for seen in living if names is None or names.owns_any(seen.queues)]


def _registered(client: redis.Redis, at: datetime) -> Iterator[tuple[WorkerSeen, LivenessRecord]]:
    """Yield the workers on RQ's list, by name, with the last heartbeat as of the time *at*."""
    with translated():
        keys = sorted(get_keys(connection=client))
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
                pipe.ttl(key)
            replies: list[Any] = pipe.execute()
    for key, row, expires_in in zip(keys, replies[::2], replies[1::2], strict=True):
        found = {as_text(name): as_text(value) for name, value in row.items()}
        if "last_heartbeat" in found and expires_in >= 0:  # else it has expired, and only counters were added since
            sign = LivenessRecord(
                _pid(found), found.get(PLACE, ""), (at - utcparse(found["last_heartbeat"])).total_seconds()
            )
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
