"""Whether a process lives, as far as the system tells."""

import os
import subprocess
import sys

import pytest

from nous.jobs.rq.worker_stats import here, is_running

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_a_process_lives_that_may_not_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(pid, number)

    monkeypatch.setattr(os, "kill", refuse)

    assert is_running(2**22 + 1)


@on_linux
def test_a_process_that_has_ended_is_gone_before_and_after_its_parent_asks() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(process.pid)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_running(process.pid)
    process.communicate()
    assert not is_running(process.pid)


@on_linux
def test_a_place_is_the_same_for_processes_that_see_each_other() -> None:
    told = "from nous.jobs.rq.worker_stats import here; print(here())"

    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == here() != ""
