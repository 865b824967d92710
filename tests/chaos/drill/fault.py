"""What a way to break something is, and which there are."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import ClassVar

from chaos.drill.stage import Stage


class Fault:
    """Breaks something, as often as it is told. A subclass in a module of `chaos.drill.faults` is found there."""

    name: ClassVar[str] = ""
    overlaps: ClassVar[bool] = True
    """Whether it may be struck again while the last strike lasts."""

    kills_processes: ClassVar[bool] = False
    """Whether processes die of it without being killed by the driver."""

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
        stage.system.start(stage.crew)

    def strike(self, stage: Stage) -> float:
        """Break something; returns for how many seconds from now nobody can be expected to work."""
        raise NotImplementedError

    def clear(self, stage: Stage) -> None:
        """Leave nothing broken: no fault comes after this."""

    def take_down(self, stage: Stage) -> None:
        """End what was begun beside the crew and the server."""

    def expected_dead(self) -> set[str]:
        """The sessions that have to be dead letters in the end."""
        return set()

    def may_be_lost(self) -> set[str]:
        """The sessions that may be gone, unless they were published durably."""
        return set()


def faults() -> dict[str, type[Fault]]:
    """Every way to break something, by name."""
    package = import_module("chaos.drill.faults")
    for module in iter_modules(package.__path__):
        import_module(f"chaos.drill.faults.{module.name}")
    return {kind.name: kind for kind in _kinds(Fault) if kind.name}


def _kinds(kind: type[Fault]) -> Iterator[type[Fault]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds(each)
