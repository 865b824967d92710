"""Processes that die, stall, are told to stop, or are killed by what they handle."""

import os
import signal
from contextlib import suppress

from chaos.drill.crew import children
from chaos.drill.fault import Fault
from chaos.drill.producer import SCOPES, ended
from chaos.drill.stage import LEASE, Stage
from typing_extensions import override  # typing has it from Python 3.12 on


class KilledWorker(Fault):
    """A worker process is killed, with all that is in flight in it."""

    name = "worker killed"

    @override
    def strike(self, stage: Stage) -> float:
        stage.crew.replace_whole(stage.crew.one(stage.chance))
        return 0.0


class StoppedWorker(Fault):
    """A worker process is paused for longer than its lease, and then goes on."""

    name = "worker paused"
    overlaps = False

    @override
    def strike(self, stage: Stage) -> float:
        pid = stage.crew.one(stage.chance)
        os.kill(pid, signal.SIGSTOP)
        stage.later(LEASE * 1.5, lambda: os.kill(pid, signal.SIGCONT))
        return 0.0


class DrainedWorker(Fault):
    """A worker process is told to stop, and finishes what it has begun."""

    name = "worker drained"

    @override
    def strike(self, stage: Stage) -> float:
        stage.crew.drain(stage.crew.one(stage.chance))
        return 0.0


class KilledFleet(Fault):
    """Every worker process is killed at once; their replacements find no new traffic to wake them."""

    name = "fleet killed"

    @override
    def strike(self, stage: Stage) -> float:
        for pid in stage.crew.pids:
            stage.crew.replace_whole(pid)
        return 0.0


class _Forking(Fault):
    """A fleet of RQ's own workers, which fork for each job."""

    @override
    def set_up(self, stage: Stage) -> None:
        stage.system.start_forking(stage.crew)

    @staticmethod
    def horse_of(pid: int) -> int | None:
        """The process that runs a job for *pid* at the moment."""
        return next(iter(children(pid)), None)


class KilledHorse(_Forking):
    """The process of one job is killed; its parent lives."""

    name = "work-horse killed"

    @override
    def strike(self, stage: Stage) -> float:
        horse = self._some_horse(stage)
        if horse:
            with suppress(ProcessLookupError):
                os.kill(horse, signal.SIGKILL)
        return 0.0

    def _some_horse(self, stage: Stage) -> int | None:
        workers = stage.crew.working()
        stage.chance.shuffle(workers)
        return next((horse for pid in workers if (horse := self.horse_of(pid))), None)


class KilledParent(_Forking):
    """The parent is killed; the process of its job is orphaned and goes on."""

    name = "parent killed"

    @override
    def strike(self, stage: Stage) -> float:
        stage.crew.replace(stage.crew.one(stage.chance))
        return 0.0


class KilledGroup(_Forking):
    """Both are killed."""

    name = "group killed"

    @override
    def strike(self, stage: Stage) -> float:
        pid = stage.crew.one(stage.chance)
        horse = self.horse_of(pid)
        stage.crew.replace(pid)
        if horse:
            with suppress(ProcessLookupError):
                os.kill(horse, signal.SIGKILL)
        return 0.0


class Poison(Fault):
    """A session that kills the process that handles it, among harmless ones."""

    name = "poison"
    kills_processes = True

    def __init__(self) -> None:
        self._poison: set[str] = set()

    @override
    def strike(self, stage: Stage) -> float:
        session = f"poison-{len(self._poison)}"
        stage.container.bus.publish(ended(session, 50_000 + len(self._poison), scope=SCOPES[0]))
        self._poison.add(session)
        return 0.0

    @override
    def expected_dead(self) -> set[str]:
        return self._poison
