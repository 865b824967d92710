"""The log that a server appends its writes to."""

import re
from pathlib import Path

from nous.redis_server.data_dir import DataDir

_COMMIT = b"$4\r\nEXEC\r\n"
"""What ends the writes of a script."""
_SUBJECT = re.compile(rb'"subject":"([^"]+)"')


def log_of(place: DataDir) -> Path:
    """The file that the server appends to."""
    return max((place.home / "appendonlydir").glob("*.incr.aof"))


def complete(log: bytes) -> bytes:
    """What a server reads of *log* that begins with it: up to the last commit that is whole."""
    end = log.rfind(_COMMIT)
    return log[: end + len(_COMMIT)] if end >= 0 else b""


def sessions_in(log: bytes) -> set[str]:
    """The sessions that a part of a log has events of."""
    return {subject.decode() for subject in _SUBJECT.findall(log)}
