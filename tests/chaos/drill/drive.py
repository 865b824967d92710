"""The drill: sessions are published and handled, something is broken at drawn moments, and all is counted."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from builders.waiting import wait_until
from chaos.drill.crew import WORKERS, Nursery
from chaos.drill.fault import Fault
from chaos.drill.report import Outcome, report_of
from chaos.drill.stage import Size, Stage, staged

from nous.domain.errors import NousError

_GLANCE = 0.02
_LONGEST = 900.0
"""Seconds after the last fault within which all has to be at rest."""


@dataclass
class Wound:
    """What was being handled when something was broken, and since when it can be expected to heal."""

    running: set[tuple[str, bytes]]
    since: float


@dataclass
class Watch:
    """Looks at the books while they are moved."""

    stage: Stage
    wounds: list[Wound] = field(default_factory=list[Wound])
    recoveries: list[float] = field(default_factory=list[float])
    _seen: tuple[int, int] = (0, 0)

    def handled(self) -> int:
        """Sessions that the first worker is through with, as far as was seen."""
        return self._seen[0]

    def through(self) -> int:
        """Deliveries that are through with both workers, as far as was seen."""
        return sum(self._seen)

    def look(self) -> None:
        """See what is through, and which wounds have healed; nothing can be seen while the server is out."""
        with suppress(NousError):
            seen = self.stage.through()
            running = self.stage.running() if self.wounds else set[tuple[str, bytes]]()
            self._seen = seen
            for wound in [wound for wound in self.wounds if not wound.running & running]:
                self.wounds.remove(wound)
                self.recoveries.append(max(time.monotonic() - wound.since, 0.0))

    def wound(self) -> Wound:
        try:
            return Wound(self.stage.running(), time.monotonic())
        except NousError:
            return Wound(set(), time.monotonic())

    def is_at_rest(self) -> bool:
        """Whether everything that was published is through."""
        try:
            return self.stage.producer.is_done and self.stage.is_at_rest()
        except NousError:
            return False


def drill(fault: Fault, size: Size, nursery: Nursery) -> Outcome:
    """Break *fault* as often as *size* says, and wait until all is over."""
    began = time.monotonic()
    with staged(size, nursery, fault) as stage, _set_up(fault, stage):
        watch = Watch(stage)
        stage.producer.start(watch.handled)
        for moment in _moments(stage):
            _until(watch, lambda moment=moment: watch.through() >= moment or watch.is_at_rest(), f"{moment} deliveries")
            _until(watch, lambda: fault.overlaps or not stage.is_broken, "the fault before to be over")
            wound = watch.wound()
            wound.since += fault.strike(stage) or 0.0
            watch.wounds.append(wound)
        _until(watch, lambda: not stage.is_broken, "the last fault to be over")
        _until(watch, watch.is_at_rest, "everything to come to rest")
        watch.look()
        fault.check(stage)
        return Outcome(
            kind=fault.name,
            size=size,
            report=report_of(stage, expected_dead=fault.expected_dead, may_be_lost=fault.may_be_lost),
            recoveries=tuple(sorted(watch.recoveries)),
            seconds=time.monotonic() - began,
        )


@contextmanager
def _set_up(fault: Fault, stage: Stage) -> Generator[None]:
    fault.set_up(stage)
    try:
        yield
    finally:
        for timer in stage.timers:
            timer.join()
        stage.producer.stop()
        stage.crew.end()
        fault.take_down()


def _moments(stage: Stage) -> list[int]:
    """After how many deliveries something is broken: most of them while sessions are still published."""
    deliveries = len(WORKERS) * stage.size.events
    return sorted(stage.chance.sample(range(deliveries // 20, deliveries * 9 // 10), stage.size.faults))


def _until(watch: Watch, condition: Callable[[], bool], what: str) -> None:
    """Wait, and look meanwhile."""

    def holds() -> bool:
        if watch.stage.trouble:
            raise watch.stage.trouble[0]
        watch.stage.crew.revive()
        watch.look()
        return condition()

    wait_until(holds, what, seconds=_LONGEST, pause=_GLANCE)
