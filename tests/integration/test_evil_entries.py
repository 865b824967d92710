"""A worker process that finds entries of many megabytes in its stream: it says so, and stays small."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import LARGEST

SIZE, COUNT = 60_000_000, 3
"""Bytes of an entry, and how many there are."""

ALLOWED = 50
"""Megabytes by which they may let a process grow: less than a single one has."""

GOOD = b'{"data": {"session_id": "good", "transcript": "User: Always run billing on port 9017.\\n\\nAssistant: Done."}}'
NAME = "episode-summarizer"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process needed at most")


def test_entries_of_many_megabytes_are_set_aside_unread_and_the_worker_stays_small(
    container: Container, directory: Path, wait_until: Any
) -> None:
    huge = b'{"data": {"session_id": "huge", "transcript": "' + b"x" * SIZE + b'"}}'
    for _ in range(COUNT):
        tell(container, huge)
    tell(container, GOOD)

    with worker(directory) as process:
        wait_until(lambda: account(container).received == COUNT + 1, "the worker to come to the last", seconds=120)
        wait_until(lambda: account(container).in_flight == 0, "the last to be done")
        most, now = (memory(process.pid, what) for what in ("VmHWM", "VmRSS"))

    assert most - now < ALLOWED
    assert (account(container).dead, account(container).discrepancy) == (COUNT, 0)
    assert {letter.reason.partition(":")[0] for letter in container.dead_letters.letters()} == {
        f"the event has {len(huge):,} bytes, and none may have more than {LARGEST:,}"
    }


@contextmanager
def worker(directory: Path) -> Generator[subprocess.Popen[bytes]]:
    """A worker process, as anybody runs it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    environment = inherited | {"NOUS_DATA_DIR": str(directory), "NOUS_EMBEDDER": "hashed"}
    command = [sys.executable, "-m", "nous", "worker", NAME]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


def tell(container: Container, raw: bytes) -> str:
    name: Any = container.client.xadd(BusKeys().stream("session_ended", Priority.LIVE), {"event": raw})
    return name.decode()


def account(container: Container) -> GroupCounters:
    return container.delivery_stats.counters(container.subscription(NAME))


def memory(pid: int, what: str) -> int:
    """What /proc tells of a process, in megabytes."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status[what].split()[0]) >> 10
