"""Whether a process lives: what is concluded, and what the system tells."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from nous.jobs.rq.worker_stats import LivenessRecord, age_of, age_told, here, lives

HERE, ELSEWHERE = "boot-1 pid:[1]", "boot-1 pid:[2]"
SIGN = LivenessRecord(pid=7, place=HERE, age=10)
STAT = "7 (a ) name) {state} 1 7 7 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 {start} 1 1"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def aged(age: float | None) -> Callable[[int], float | None]:
    return lambda _: age


@pytest.mark.parametrize(
    ("age", "expected"),
    [(60, True), (10, True), (9.5, True), (math.inf, True), (3, False), (0, False), (None, False)],
)
def test_a_process_lives_that_is_there_and_has_begun_before_it_was_heard_of(age: float | None, expected: bool) -> None:  # noqa: FBT001
    assert lives(SIGN, at=HERE, age_of=aged(age)) is expected


@pytest.mark.parametrize("sign", [replace(SIGN, place=ELSEWHERE), replace(SIGN, place=""), replace(SIGN, pid=None)])
@pytest.mark.parametrize("at", [HERE, ""])
def test_of_one_whose_pid_means_nothing_here_it_is_believed(sign: LivenessRecord, at: str) -> None:
    assert lives(sign, at=at, age_of=aged(None))


@pytest.mark.parametrize(
    ("state", "start", "age"),
    [("S", 300, 97.0), ("R", 0, 100.0), ("Z", 300, None), ("X", 300, None), ("S", 10**6, math.inf)],
)
def test_what_the_system_tells_of_a_process_is_read(state: str, start: int, age: float | None) -> None:
    assert age_told(STAT.format(state=state, start=start), now=100, ticks=100) == age


def test_this_process_lives() -> None:
    age = age_of(os.getpid())

    assert age is not None
    assert age >= 0
    assert lives(LivenessRecord(os.getpid(), here(), 0), at=here(), age_of=age_of)


def test_a_process_lives_that_may_not_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(pid, number)

    monkeypatch.setattr(os, "kill", refuse)

    assert age_of(os.getpid()) is not None
    assert age_of(2**22 + 1) == math.inf  # hidden: there is no such number


@on_linux
def test_a_process_that_has_ended_is_gone_before_and_after_its_parent_asks() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert age_of(process.pid) is not None

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert age_of(process.pid) is None
    process.communicate()
    assert age_of(process.pid) is None


@on_linux
def test_a_place_is_the_same_for_processes_that_see_each_other() -> None:
    told = "from nous.jobs.rq.worker_stats import here; print(here())"

    assert (
        subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.strip()
        == here()
    )
    assert here()
