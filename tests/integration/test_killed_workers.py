"""Workers that were killed: nobody says that they run."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.command_line import Nous
from builders.waiting import wait_until

from nous.jobs.rq.worker_stats import WorkerSeen, workers_seen
from nous.redis_server.client import connect_rq
from nous.settings.model import Settings

COMMAND = [sys.executable, "-m", "nous", "worker", "decision-keeper"]


@pytest.fixture
def killed(nous: Nous, directory: Path) -> Iterator[Path]:
    """The data directory of a worker that was killed; nobody has taken note of it yet, so its pid is not free."""
    assert nous("scopes").exit_code == 0  # the server is up, and knows nobody
    process = subprocess.Popen(COMMAND, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: [each.pid for each in _seen(directory)] == [process.pid], "the worker to show itself")
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield directory
    finally:
        process.kill()
        process.wait()


def test_a_worker_that_was_killed_is_not_shown_nor_counted_on(killed: Path, nous: Nous, tmp_path: Path) -> None:
    session = tmp_path / "session.txt"
    session.write_text("User: What is a gift?\n\nAssistant: Something that is given.\n")

    assert _seen(killed) == []
    assert json.loads(nous("status", "--json").stdout)["workers"] == []
    assert "no worker runs: nous up" in nous("status").stdout
    assert nous("status").stdout.endswith("\nthe counters reconcile, and nothing is dead\n")
    assert "no worker runs yet" in nous("publish", session).stderr
    assert json.loads(nous("down", "--json").stdout)["workers"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("nous")
def test_a_worker_that_was_ended_properly_is_not_shown(number: signal.Signals, directory: Path) -> None:
    process = subprocess.Popen(COMMAND, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _seen(directory), "the worker to show itself")
        wait_until(lambda: [each.state for each in _seen(directory)] == ["idle"], "it to listen")
        process.send_signal(number)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()

    assert _seen(directory) == []


def _seen(directory: Path) -> list[WorkerSeen]:
    return workers_seen(connect_rq(Settings(data_dir=directory)))
