"""Whether a process that once said that it lives still does.

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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
