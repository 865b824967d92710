"""Find and import plug-ins: modules of a package, and entry points of other distributions.

A built-in plug-in is a module with an agreed attribute. Another distribution declares its own in `pyproject.toml`:

[project.entry-points."nous.workers"]
greeter = "my_package.greeter:WORKER"

Spec: https://packaging.python.org/en/latest/specifications/entry-points/
"""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from nous.domain.errors import Misconfigured


class PlugIns:
    """Plug-ins of one kind, by name. Nothing is imported before it is asked for."""

    def __init__(self, package: ModuleType, *, attribute: str, group: str) -> None:
        self._package = package
        self._attribute = attribute
        self.group = group

    def names(self) -> frozenset[str]:
        """Return the names of all plug-ins. Raises `Misconfigured` if two have the same."""
        return frozenset({*self._built_in(), *self._entry_points()})

    def load(self, name: str) -> Any:
        """Import the plug-in *name*; KeyError where there is none. Raises `Misconfigured`."""
        if name in self._built_in():
            return getattr(self._imported(name), self._attribute)
        return _loaded(self._entry_points()[name])

    def all(self) -> Mapping[str, Any]:
        """Import every plug-in. Raises `Misconfigured` if one fails, or two have the same name."""
        modules = {name: self._imported(name) for name in self._built_in()}
        found = {
            name: getattr(each, self._attribute) for name, each in modules.items() if hasattr(each, self._attribute)
        }
        return {**found, **self.of_others()}

    def of_others(self) -> Mapping[str, Any]:
        """Import the plug-ins of other distributions. Raises what `all` raises."""
        return {name: _loaded(point) for name, point in self._entry_points().items()}

    def _imported(self, name: str) -> ModuleType:
        module = f"{self._package.__name__}.{name}"
        with _named(f"the module {module}"):
            return import_module(module)

    def _built_in(self) -> tuple[str, ...]:
        return tuple(sorted(module.name for module in iter_modules(self._package.__path__)))

    def _entry_points(self) -> Mapping[str, metadata.EntryPoint]:
        points = _entry_points(self.group, tuple(sys.path))
        known = {point.name: point for point in points}
        repeated = [point.name for point in points if known[point.name] is not point or point.name in self._built_in()]
        if repeated:
            raise Misconfigured(f"two plug-ins of {self.group} are called {', '.join(sorted(set(repeated)))}")
        return known


@cache  # a scan reads the metadata of every installed distribution
def _entry_points(group: str, _path: tuple[str, ...]) -> metadata.EntryPoints:
    try:
        return metadata.entry_points(group=group)
    except (TypeError, ValueError) as error:
        raise Misconfigured(f"an installed distribution has a malformed entry_points.txt: {error}") from error


def _loaded(point: metadata.EntryPoint) -> Any:
    with _named(f"the plug-in {point.name!r} of {point.group} ({point.value})"):
        return point.load()


@contextmanager
def _named(plug_in: str) -> Generator[None]:
    try:
        yield
    except (Exception, SystemExit) as error:  # its code may raise anything
        raise Misconfigured(f"{plug_in} fails: {type(error).__name__}: {error}") from error
