"""Workers of two releases, side by side."""

import os
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from chaos.drill.crew import Nursery
from chaos.drill.fault import Fault
from chaos.drill.stage import Stage
from chaos.drill.system import PROCESSES
from typing_extensions import override  # typing has it from Python 3.12 on

_ROOT = Path(__file__).parents[4]


class TwoReleases(Fault):
    """Half of the workers are of the commit before, or of the one that CHAOS_PREVIOUS names, and any is killed."""

    name = "two releases"

    @override
    def set_up(self, stage: Stage) -> None:
        self._before = Nursery(_exported(stage.directory / "before"))
        for number in range(PROCESSES + 1):
            stage.crew.start(nursery=self._before if number % 2 else None)

    @override
    def strike(self, stage: Stage) -> float:
        is_old = stage.chance.random() < 0.5
        stage.crew.replace(stage.crew.one(stage.chance), nursery=self._before if is_old else None)
        return 0.0

    @override
    def take_down(self, stage: Stage) -> None:
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
