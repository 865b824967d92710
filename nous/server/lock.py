"""File locks that free themselves when the last process that holds them is gone, however it went."""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from nous.errors import Unavailable

_LAST_STREAM = 2

_POLL = 0.02
"""Seconds between two tries: a file lock is waited for without end, or not at all."""


@contextmanager
def held(path: Path, *, within: float) -> Generator[int]:
    """Hold the lock on *path* alone, and yield its descriptor; a child that inherits it goes on holding the lock.

    Raises:
        Unavailable: somebody else held it for *within* seconds.
    """
    descriptor = _beyond_streams(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    try:
        _take(descriptor, path, until=time.monotonic() + within)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether any process holds the lock on *path*."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _taken(descriptor, fcntl.LOCK_SH)  # shared, so that two who look do not see each other
    finally:
        os.close(descriptor)


def _beyond_streams(descriptor: int) -> int:
    """*descriptor*, not in place of a standard stream that is closed: a child gets its own there, and lost the lock."""
    if descriptor > _LAST_STREAM:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LAST_STREAM + 1)
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path, *, until: float) -> None:
    while not _taken(descriptor, fcntl.LOCK_EX):
        if time.monotonic() > until:
            raise Unavailable(f"{path} is still locked by another process; look what holds it with `fuser {path}`")
        time.sleep(_POLL)


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
