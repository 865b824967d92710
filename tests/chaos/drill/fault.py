"""What a way to break something is, and which there are."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from chaos.drill.stage import PROCESSES, Stage

Strike = Callable[[Stage], float | None]
"""Inject the fault; return the seconds for which no process can be expected to work."""


class Fault:
    """Injects one kind of fault repeatedly, and records the expected consequences."""

    events = 40
    """Sessions of a small drill; fewer where each takes a process of its own."""

    def __init__(
        self,
        name: str,
        strike: Strike,
        *,
        overlaps: bool = True,
        is_forking: bool = False,
        kills_processes: bool = False,
    ) -> None:
        """With *overlaps*, it may be struck again while the last strike lasts.

        With *is_forking*, RQ's own workers run the jobs, each in a fork. With *kills_processes*, processes die of it
        that the driver does not kill.
        """
        self.name = name
        self.strike = strike
        self.overlaps = overlaps
        self.kills_processes = kills_processes
        self._is_forking = is_forking
        if is_forking:
            self.events = 24
        self.expected_dead: set[str] = set()
        """The sessions that have to be dead letters in the end."""
        self.may_be_lost: set[str] = set()
        """The sessions that may be gone, unless they were published durably."""

    def way(self, directory: Path) -> str:
        """The `redis_url` of processes and producer, for the server of *directory*."""
        del directory
        return "embedded:"

    def environment(self, directory: Path) -> Mapping[str, str]:
        """Further settings of the worker processes."""
        del directory
        return {}

    def set_up(self, stage: Stage) -> None:
        """Get the stage ready, and everybody to work."""
        if self._is_forking:
            stage.crew.start("desks")
        for _ in range(PROCESSES):
            stage.crew.start("forks" if self._is_forking else "pool")

    def check(self, stage: Stage) -> None:
        """Assert what has to hold of this fault when all is at rest."""

    def take_down(self) -> None:
        """End what was begun beside the crew and the server."""


FAULTS: dict[str, Callable[[], Fault]] = {}
"""By name, those of the modules that were imported; a drill has one of its own."""


def fault(name: str, *, overlaps: bool = True, is_forking: bool = False) -> Callable[[Strike], Strike]:
    """Register a function as the strike of a fault."""

    def register(strike: Strike) -> Strike:
        FAULTS[name] = partial(Fault, name, strike, overlaps=overlaps, is_forking=is_forking)
        return strike

    return register


def faults() -> Mapping[str, Callable[[], Fault]]:
    """Every way to break something, by name: those of the modules in `chaos.drill.faults`."""
    package = import_module("chaos.drill.faults")
    for module in iter_modules(package.__path__):
        import_module(f"chaos.drill.faults.{module.name}")
    return FAULTS
