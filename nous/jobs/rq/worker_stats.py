"""Who works on what, read from RQ's own keys without touching them: that works while the server cannot write, too.

RQ's registries clean up when they are asked to count, and cleaning up moves jobs; its list of workers removes those
whose keys have expired. Here their keys are read instead.

A pid names a process only where it was given, and anew after each start of the machine: containers share a host name,
even pids, and mean others by them. So a worker notes its place beside its pid, and is asked after by those who are
there. Of others it is known when they were heard of last, and RQ forgets them when that is too long ago.
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

from nous.jobs.base import JobNames, Line
from nous.jobs.rq.queue import queue_named
from nous.redis_support.errors import translated

PLACE = "place"
"""The field that our workers have in the hash of an RQ worker, beside its own."""

_SLACK = 1.0
"""Seconds by which a process may seem younger than what it said: clocks are read one after the other."""
_ENDED = frozenset("ZX")
"""States of a process that is only remembered, until its parent has asked what became of it."""
_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class Sign:
    """The last sign of life of a process: *age* is how many seconds ago it was, *place* what `here` said there."""

    pid: int | None
    place: str
    age: float


def lives(sign: Sign, *, at: str, age_of: Callable[[int], float | None]) -> bool:
    """Whether the process lives, as far as somebody in the place *at* can tell; in doubt it does.

    *age_of* says how long a process has run, and None of one that is gone. One that has begun after the sign was given
    has only taken over the number.
    """
    if sign.pid is None or not sign.place or sign.place != at:
        return True
    age = age_of(sign.pid)
    return age is not None and age > sign.age - _SLACK


def here() -> str:
    """Where the pids are given that this process knows, until the machine is started anew; empty if that is unknown."""
    if sys.platform == "darwin":  # it has no containers of its own; without an address the number is another each time
        return f"{socket.gethostname()} {uuid.getnode():x}"
    try:
        if (_PROCESSES / "self").readlink().name != str(os.getpid()):
            return ""  # what is mounted there tells of another place
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {(_PROCESSES / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def age_of(pid: int) -> float | None:
    """For how many seconds the process *pid* has run: None if it is gone, infinite where the system does not tell."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except PermissionError:
        pass  # somebody else's, so it is there
    try:
        told = (_PROCESSES / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:
        return math.inf
    return age_told(told, now=time.clock_gettime(time.CLOCK_BOOTTIME), ticks=os.sysconf("SC_CLK_TCK"))


def age_told(stat: str, *, now: float, ticks: int) -> float | None:
    """What the line *stat* of /proc says of a process's age, *now* seconds after the machine was started."""
    state, *numbers = stat.rpartition(")")[2].split()  # its name is in brackets, and may hold anything
    if state in _ENDED:
        return None
    age = now - int(numbers[18]) / ticks  # the 22nd field of proc(5)
    return age if age >= 0 else math.inf


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
