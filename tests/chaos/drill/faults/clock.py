"""A clock that jumps."""

from collections.abc import Mapping
from pathlib import Path

from chaos.drill.fault import Fault
from chaos.drill.stage import LEASE, Stage
from typing_extensions import override  # typing has it from Python 3.12 on

_STEPS = (-3600.0, -LEASE, LEASE, 3600.0)
"""Seconds."""


class SteppedClock(Fault):
    """The clock by which leases are told jumps forth or back, and a worker is killed, whom nothing else would miss."""

    name = "clock stepped"

    @override
    def environment(self, directory: Path) -> Mapping[str, str]:
        self._file = directory / "clock"
        self._file.write_text("0")
        return {"CHAOS_CLOCK": str(self._file)}

    @override
    def strike(self, stage: Stage) -> float:
        step = float(self._file.read_text()) + stage.chance.choice(_STEPS)
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{step}")
        fresh.replace(self._file)  # nobody reads half of it
        stage.crew.replace(stage.crew.one(stage.chance))
        return 0.0
