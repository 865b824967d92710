"""Worker processes that die, stand still, are of two releases, or cannot trust their clock."""

import os
import signal
import subprocess
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from chaos.drill.crew import Nursery, children
from chaos.drill.fault import FAULTS, Fault, fault
from chaos.drill.producer import SCOPES, ended
from chaos.drill.stage import LEASE, PROCESSES, Stage

_ROOT = Path(__file__).parents[4]
_STEPS = (-3600.0, -LEASE, LEASE, 3600.0)
"""Seconds."""


@fault("worker killed")
def kill_worker(stage: Stage) -> None:
    """Kill a worker process, with all that is in flight in it."""
    stage.crew.replace_whole(stage.crew.one(stage.chance))


@fault("worker paused", overlaps=False)
def pause_worker(stage: Stage) -> None:
    """Pause a worker process for longer than its lease; then it goes on."""
    pid = stage.crew.one(stage.chance)
    os.kill(pid, signal.SIGSTOP)
    stage.later(LEASE * 1.5, lambda: os.kill(pid, signal.SIGCONT))


@fault("worker drained")
def drain_worker(stage: Stage) -> None:
    """Tell a worker process to stop; it finishes what it has begun."""
    stage.crew.drain(stage.crew.one(stage.chance))


@fault("fleet killed")
def kill_fleet(stage: Stage) -> None:
    """Kill every worker process at once; their replacements find no new traffic to wake them."""
    for pid in stage.crew.pids:
        stage.crew.replace_whole(pid)


@fault("work-horse killed", is_forking=True)
def kill_horse(stage: Stage) -> None:
    """Kill the process of one job; its parent lives."""
    workers = stage.crew.working()
    stage.chance.shuffle(workers)
    _kill(next((horse for pid in workers for horse in children(pid)[:1]), None))


@fault("parent killed", is_forking=True)
def kill_parent(stage: Stage) -> None:
    """Kill a forking worker; the process of its job is orphaned and goes on."""
    stage.crew.replace(stage.crew.one(stage.chance))


@fault("group killed", is_forking=True)
def kill_group(stage: Stage) -> None:
    """Kill a forking worker, and the process of its job."""
    pid = stage.crew.one(stage.chance)
    horse = next(iter(children(pid)), None)
    stage.crew.replace(pid)
    _kill(horse)


def _kill(pid: int | None) -> None:
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Poison(Fault):
    """A session that kills the process that handles it, among harmless ones."""

    def __init__(self) -> None:
        super().__init__("poison", self._publish, kills_processes=True)

    def _publish(self, stage: Stage) -> None:
        number = len(self.expected_dead)
        session = f"poison-{number}"
        stage.container.bus.publish(ended(session, 50_000 + number, scope=SCOPES[0]))
        self.expected_dead.add(session)


class SteppedClock(Fault):
    """The clock by which leases are told jumps forth or back, and a worker is killed, whom nothing else would miss."""

    def __init__(self) -> None:
        super().__init__("clock stepped", self._step)

    def environment(self, directory: Path) -> Mapping[str, str]:
        self._file = directory / "clock"
        self._file.write_text("0")
        return {"CHAOS_CLOCK": str(self._file)}

    def _step(self, stage: Stage) -> None:
        step = float(self._file.read_text()) + stage.chance.choice(_STEPS)
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{step}")
        fresh.replace(self._file)  # atomic: a reader never sees half of it
        stage.crew.replace(stage.crew.one(stage.chance))


class TwoReleases(Fault):
    """Half of the workers are of the commit before, or of the one that CHAOS_PREVIOUS names, and any is killed."""

    def __init__(self) -> None:
        super().__init__("two releases", self._replace)

    def set_up(self, stage: Stage) -> None:
        self._before = Nursery(_exported(stage.directory / "before"))
        for number in range(PROCESSES + 1):
            stage.crew.start(nursery=self._before if number % 2 else None)

    def _replace(self, stage: Stage) -> None:
        is_old = stage.chance.random() < 0.5
        stage.crew.replace(stage.crew.one(stage.chance), nursery=self._before if is_old else None)

    def take_down(self) -> None:
        self._before.close()


def _exported(target: Path) -> Path:
    """The packages of the commit before and their drill, in *target*."""
    commit = os.environ.get("CHAOS_PREVIOUS", "HEAD~1")
    command = ["git", "-C", str(_ROOT), "archive", commit, "nous", "workers", "tests"]
    found = subprocess.run(command, capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"there is no commit {commit} to take workers of: {found.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(found.stdout)) as packed:
        packed.extractall(target, filter="data")
    return target


FAULTS.update({"poison": Poison, "clock stepped": SteppedClock, "two releases": TwoReleases})
