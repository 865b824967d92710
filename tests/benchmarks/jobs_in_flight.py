"""Jobs that wait for 0.2 s, as a call to a model does: 200 in flight in one process, and RQ's own pool of 50 beside.

Prints jobs a second and memory (PSS: shared pages divided among processes).

    python tests/benchmarks/jobs_in_flight.py
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest looks for these as well

from builders.memory import pss
from builders.waiting import wait_until
from chaos.drill.crew import children
from chaos.drill.producer import ended
from common.measure import SUMMARY
from rq import Queue
from rq.serializers import JSONSerializer

from nous import log
from nous.app.container import Container, build
from nous.app.worker_process import worker_process
from nous.domain.effects import Effects
from nous.domain.events import EpisodeSummarized, Event, SessionEnded
from nous.pipeline.worker import Worker, WorkerContext
from nous.redis_server import embedded
from nous.settings.model import Settings, WorkerSettings

WAIT = 0.2
IN_FLIGHT = 200
FORKS = 50
OURS = 4000
THEIRS = 1500
PATIENCE = 300
"""Seconds for any one thing to come about; more means that something hangs."""


@dataclass(frozen=True)
class Figures:
    """What one way of running jobs achieved."""

    jobs_per_second: float
    pss_mb: float


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="nous-") as name:
        directory = Path(name)
        try:
            ours = _pool(directory)
            theirs = _fork_pool(directory)
        finally:
            embedded.stop(directory)
    print(f"{'':24}{'jobs/s':>10}{'PSS MB':>10}")
    print(f"{f'pool, {IN_FLIGHT} threads':24}{ours.jobs_per_second:>10.0f}{ours.pss_mb:>10.0f}")
    print(f"{f'rq worker-pool -n {FORKS}':24}{theirs.jobs_per_second:>10.0f}{theirs.pss_mb:>10.0f}")
    print(f"{'ratio':24}{ours.jobs_per_second / theirs.jobs_per_second:>10.1f}{ours.pss_mb / theirs.pss_mb:>10.2f}")


def _pool(directory: Path) -> Figures:
    """Ours, in this process, with dispatcher and sweeper beside the pool."""
    settings = WorkerSettings(concurrency=IN_FLIGHT, queue_ahead=2 * IN_FLIGHT)
    sleeper = Worker("sleeper", SessionEnded, _sleeper)
    container = build(Settings(data_dir=directory, embedder="hashed", worker=settings), also=[sleeper])
    log.configure("error")
    crew = worker_process(container, ["sleeper"], open_quarantine=lambda _: None)
    container.bus.publish(*(ended(f"s{number}", number) for number in range(OURS)))
    crew.start()
    figures = _measured(lambda: _done(container), OURS, lambda: pss(os.getpid()))
    crew.stop()
    crew.wait()
    return figures


def _fork_pool(directory: Path) -> Figures:
    """RQ's own, on the same server."""
    container = build(Settings(data_dir=directory, embedder="hashed"))
    queue = Queue("baseline", connection=container.rq_client, serializer=JSONSerializer)
    url = embedded.ensure(directory)
    command = ["rq", "worker-pool", "-n", str(FORKS), "-q", "-S", "json", "-u", url, "baseline"]
    program = str(Path(sys.executable).parent / command[0])
    with subprocess.Popen([program, *command[1:]], start_new_session=True) as pool:
        try:
            wait_until(lambda: _workers(container) >= FORKS, "RQ's workers to begin", seconds=PATIENCE, pause=0.2)
            queue.enqueue_many([Queue.prepare_data("time.sleep", (WAIT,), timeout=60) for _ in range(THEIRS)])
            figures = _measured(lambda: THEIRS - queue.count, THEIRS, lambda: sum(map(pss, _tree(pool.pid))))
        finally:
            _end(pool)
    return figures


def _end(pool: subprocess.Popen[bytes]) -> None:
    """End RQ's pool. Now and then one of its workers misses the signal, and the pool waits for it without end."""
    pool.terminate()
    try:
        pool.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(pool.pid, signal.SIGKILL)


def _measured(done: Callable[[], int], jobs: int, memory: Callable[[], float]) -> Figures:
    """The rate between the first tenth and the end, when everything is in flight, and the memory in between."""
    wait_until(lambda: done() >= jobs / 10, "the first tenth to be done", seconds=PATIENCE)
    began, first, peak = time.perf_counter(), done(), 0.0

    def is_done() -> bool:
        nonlocal peak
        now = done()
        if now < jobs * 0.8:
            peak = max(peak, memory())
        return now >= jobs

    wait_until(is_done, "the others to be done", seconds=PATIENCE, pause=0.1)
    return Figures((jobs - first) / (time.perf_counter() - began), peak)


def _sleeper(context: WorkerContext) -> Callable[[Event], Effects]:
    def handle(event: Event) -> Effects:
        time.sleep(WAIT)  # the call to a model
        follow = EpisodeSummarized.after(
            event, by="sleeper", at=context.clock(), episode_id=event.id, version="-", summary=SUMMARY
        )
        return Effects(events=(follow,))

    return handle


def _done(container: Container) -> int:
    return container.delivery_stats.counters(container.subscription("sleeper")).done


def _workers(container: Container) -> int:
    client: Any = container.rq_client
    return int(client.scard("rq:workers:baseline"))


def _tree(root: int) -> list[int]:
    """*root* and everything below it."""
    found = [root]
    for pid in found:
        found += children(pid)
    return found


if __name__ == "__main__":
    main()
