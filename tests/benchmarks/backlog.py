"""Speed and memory of draining a backlog that built up while no worker ran.

Sessions of 20 projects are published while nobody works; then worker processes begin. First a quarter of the backlog,
then all of it, each on a server of its own: what is bounded does not differ where as many sessions are drained. What
grows with that is what was learned: the store in the server, and the facts that each process holds to compare others
with, of up to 64 scopes.

Beside it, the same sessions in one process, one after the other and without streams, queues and fences: what the
handlers and the stores take by themselves.

    python tests/benchmarks/backlog.py                       # 500 sessions, then 2,000
    python tests/benchmarks/backlog.py --sessions 10000      # 2,500, then 10,000
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest looks for these as well

from builders.memory import pss
from builders.waiting import wait_until
from chaos.drill.crew import WORKERS, Nursery
from chaos.drill.producer import ended
from chaos.drill.stage import Size, Stage, staged

from nous.app.container import Container
from nous.bus.base import Committed
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.jobs.base import QueueKind

ALONE = 300
PROJECTS = 20
_AT_ONCE = 100
_PATIENCE = 3600
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class _Ordinary:
    """Nothing breaks, and workers are set as they come."""

    def way(self, directory: Path) -> str:
        del directory
        return "embedded:"

    def environment(self, directory: Path) -> Mapping[str, str]:
        del directory
        return {
            "CHAOS_THINK": "0",
            "NOUS_WORKER__LEASE": "60",
            "NOUS_WORKER__SWEEP_INTERVAL": "5",
            "NOUS_WORKER__CONCURRENCY": "16",
        }


@dataclass
class Drain:
    """Looks on while a backlog is drained: memory in MB at each quarter, worst memory, longest queues."""

    stage: Stage
    workers: list[float] = field(default_factory=list[float])
    server: list[float] = field(default_factory=list[float])
    peak: float = 0.0
    longest: Counter[str] = field(default_factory=Counter[str])

    def is_done(self) -> bool:
        container, sessions = self.stage.container, self.stage.size.events
        drained = sum(self.stage.through()) / len(WORKERS) / sessions
        for worker in WORKERS:
            self.longest[worker] = max(self.longest[worker], container.jobs.backlog(worker, QueueKind.LIVE))
        used = [pss(pid) for pid in self.stage.crew.pids]
        self.peak = max(self.peak, *used)
        while len(self.workers) < len(_QUARTERS) and drained >= _QUARTERS[len(self.workers)]:
            self.workers.append(mean(used))
            self.server.append(pss(self.stage.server))
        return drained >= 1


def main(sessions: int, processes: int) -> None:
    with Nursery() as nursery:
        alone = _alone(nursery, min(ALONE, sessions))
        print(f"one process without streams and queues: {alone:.0f} sessions/s", flush=True)
        for number in (sessions // 4, sessions):
            with staged(_size(number), nursery, _Ordinary()) as stage:
                try:
                    _drain(stage, processes, alone)
                finally:
                    stage.crew.end()


def _alone(nursery: Nursery, sessions: int) -> float:
    """Sessions a second that are handled and stored in this process, without anything between."""
    with staged(_size(sessions), nursery, _Ordinary()) as stage:
        container = stage.container
        first, second = (container.workers[name].handler_factory(container.context) for name in WORKERS)
        began = time.perf_counter()
        for number in range(sessions):
            effects = first(_session(number))
            _apply(container, Effects(writes=effects.writes))
            for event in effects.events:
                _apply(container, Effects(writes=second(event).writes))
        return sessions / (time.perf_counter() - began)


def _apply(container: Container, effects: Effects) -> None:
    assert isinstance(container.bus.apply(effects), Committed)


def _drain(stage: Stage, processes: int, alone: float) -> None:
    sessions, drain = stage.size.events, Drain(stage)
    published = sessions / _timed(lambda: _publish(stage.container, sessions))
    for _ in range(processes):
        stage.crew.start()
    drained = sessions / _timed(lambda: wait_until(drain.is_done, "the backlog to be drained", seconds=_PATIENCE))
    wait_until(stage.is_at_rest, "everything to come to rest")
    stage.crew.stop()
    print(f"\n{sessions:,} sessions, {processes} processes")
    print(f"  published {published:.0f}/s; drained {drained:.0f}/s, {2 * drained:.0f} deliveries/s", end="; ")
    print(f"{drained / alone:.2f} of one process without")
    print("  drained            " + "".join(f"{quarter:>8.0%}" for quarter in _QUARTERS))
    print("  a worker, PSS MB   " + "".join(f"{each:>8.0f}" for each in drain.workers) + f"   at most {drain.peak:.0f}")
    print("  the server, PSS MB " + "".join(f"{each:>8.0f}" for each in drain.server))
    facts = _facts(stage.container)
    grown = (drain.workers[-1] - drain.workers[1]) / (facts * 0.75) * 1000
    print(
        f"  {facts:,} facts learned, all alike, all held by each process: {grown:.0f} MB a thousand after the first 25%"
    )
    ahead = stage.container.settings.worker.queue_ahead
    seen = ", ".join(f"{worker} {length}" for worker, length in drain.longest.items())
    print(f"  longest queues: {seen}; each process lets {ahead} wait")


def _facts(container: Container) -> int:
    scopes = (Scope(project=f"project-{number}") for number in range(PROJECTS))
    return sum(isinstance(row, Learned) for scope in scopes for row in container.context.facts.read(scope).rows)


def _publish(container: Container, sessions: int) -> None:
    for start in range(0, sessions, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, sessions))
        container.bus.publish(*(_session(number) for number in numbers))


def _session(number: int) -> SessionEnded:
    return ended(f"session-{number}", number, scope=Scope(project=f"project-{number % PROJECTS}"))


def _timed(task: Any) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def _size(sessions: int) -> Size:
    return Size(events=sessions, faults=0, outage=0.0, seed=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    main(given.sessions, given.processes)
