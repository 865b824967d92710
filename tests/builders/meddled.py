"""A bus on which others are quicker."""

from collections.abc import Callable
from typing import Any

from nous.bus.base import Bus, Verdict
from nous.domain.effects import Effects


class _Meddled:
    def __init__(self, bus: Bus, befalls: Callable[[Effects], object]) -> None:
        self._bus = bus
        self._befalls = befalls

    def apply(self, effects: Effects, **how: Any) -> Verdict:
        self._befalls(effects)
        return self._bus.apply(effects, **how)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)


def meddled(bus: Bus, befalls: Callable[[Effects], object]) -> Any:
    """*bus*, but that *befalls* happens right before effects are applied, which fails where it raises."""
    return _Meddled(bus, befalls)
