"""Which processes are started for events that may kill theirs."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nous.runtime.dispatch_loop import QuarantineStarter


@contextmanager
def quarantines(log: Path, then: str) -> Generator[QuarantineStarter]:
    """Quarantines whose processes write the name of their worker down, and *then* do something."""
    found = QuarantineStarter(["/bin/sh", "-c", f'echo "$1" >> "$0"; {then}', str(log)])
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    log = tmp_path / "log"
    log.touch()
    return log


def test_of_one_worker_one_quarantine_runs_at_a_time(log: Path, wait_until: Any) -> None:
    with quarantines(log, "exec sleep 600") as opened:
        opened.open("toy")
        wait_until(lambda: log.read_text() == "toy\n", "the quarantine to begin")

        opened.open("toy")
        opened.open("other")
        wait_until(lambda: "other" in log.read_text(), "the quarantine of another worker to begin")

    assert log.read_text().split() == ["toy", "other"]


def test_a_quarantine_that_has_ended_is_opened_again(log: Path, wait_until: Any) -> None:
    with quarantines(log, "exit 0") as opened:

        def has_begun_again() -> bool:
            opened.open("toy")
            return log.read_text().split()[:2] == ["toy", "toy"]  # it may have ended once more by now

        wait_until(has_begun_again, "a second quarantine to begin", seconds=10)
