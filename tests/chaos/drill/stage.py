"""What a drill takes place on: a server of its own, the processes that work, and a way to look at it all."""

import os
import random
import select
import signal
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any, Protocol

from chaos.drill.crew import WORKERS, Crew, Nursery
from chaos.drill.producer import Producer

from nous.app.container import Container, build
from nous.bus.redis.keys import BusKeys
from nous.redis_server import data_dir, embedded
from nous.redis_server.data_dir import DataDir, locate
from nous.redis_support.errors import translated
from nous.settings.model import Settings, WorkerSettings

PROCESSES = 3
LEASE = 2.0
SWEEP = 0.25
THINK = 0.04
_LONGEST_DEATH = 30.0


@dataclass(frozen=True, kw_only=True)
class Size:
    """*faults* are struck while *events* sessions are handled; an outage takes *outage* seconds.

    The seed draws every moment and every victim.
    """

    events: int
    faults: int
    outage: float
    seed: int

    @classmethod
    def chosen(cls, events: int) -> "Size":
        """*events* and few faults, unless CHAOS_EVENTS, CHAOS_FAULTS, CHAOS_OUTAGE and CHAOS_SEED say other numbers."""
        return cls(
            events=int(os.environ.get("CHAOS_EVENTS", events)),
            faults=int(os.environ.get("CHAOS_FAULTS", "2")),
            outage=float(os.environ.get("CHAOS_OUTAGE", "1")),
            seed=int(os.environ.get("CHAOS_SEED", "20260117")),
        )


class Set(Protocol):
    """What a fault says of the stage it needs."""

    def way(self, directory: Path) -> str: ...

    def environment(self, directory: Path) -> Mapping[str, str]: ...


@dataclass(kw_only=True)
class Stage:
    """All that a fault may break, and how far the work is. `container` looks at the server directly.

    Looking at a server that is out raises `Unavailable`.
    """

    size: Size
    directory: Path
    container: Container
    crew: Crew
    producer: Producer
    chance: random.Random
    timers: list[Timer] = field(default_factory=list[Timer])
    trouble: list[BaseException] = field(default_factory=list[BaseException])
    """What went wrong with what was to be done later."""

    @property
    def place(self) -> DataDir:
        return locate(self.directory)

    @property
    def server(self) -> int:
        """The server's pid."""
        return int(self.place.pid.read_text())

    @property
    def is_broken(self) -> bool:
        """Whether something is still to be done later."""
        return any(timer.is_alive() for timer in self.timers)

    def through(self) -> tuple[int, int]:
        """How many deliveries are through with each of `WORKERS`."""
        stats = self.container.delivery_stats
        accounts = [stats.counters(self.container.subscription(each)) for each in WORKERS]
        first, second = (account.received - account.in_flight for account in accounts)
        return first, second

    def running(self) -> set[tuple[str, bytes]]:
        """Return the deliveries in progress: worker, and name of its delivery."""
        keys, found = BusKeys(self.container.settings.prefix), set[tuple[str, bytes]]()
        client: Any = self.container.client
        with translated():
            for name in WORKERS:
                progress = client.hgetall(keys.progress(name))
                found |= {(name, each) for each, state in progress.items() if b'"state":"running"' in state}
        return found

    def is_at_rest(self) -> bool:
        """Return whether all published work is finished, with its follow-ups."""
        container = self.container
        return not any(
            backlog.pending or backlog.waiting
            for name in WORKERS
            for backlog in container.delivery_stats.backlogs(container.subscription(name))
        )

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Have *action* done that many seconds from now, even if a look at the server hangs meanwhile."""

        def act() -> None:
            try:
                action()
            except BaseException as error:  # noqa: BLE001 (the outermost call of a thread: the driver raises it)
                self.trouble.append(error)

        timer = Timer(seconds, act)
        self.timers.append(timer)
        timer.start()

    def kill_server(self) -> None:
        """SIGKILL it, as the kernel would when memory runs out; the first process that finds it dead restarts it."""
        _kill(self.server)

    def keep_server_down(self) -> None:
        """SIGKILL it, and let nobody bring it back before `bring_server_back`."""
        # Under the lock of whoever brings it back: he may have seen that it is not stopped, and not begun with it.
        with data_dir.held(self.place.election, within=embedded.PATIENCE):
            self.place.stopped.touch()
            self.kill_server()

    def bring_server_back(self) -> None:
        embedded.ensure(self.directory)


def _kill(pid: int) -> None:
    """SIGKILL a process, and return when it is over."""
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        assert select.select([process], [], [], _LONGEST_DEATH)[0], f"process {pid} outlived SIGKILL"
    finally:
        os.close(process)


def environment(directory: Path, more: Mapping[str, str]) -> dict[str, str]:
    """The settings of worker processes."""
    return {
        "NOUS_DATA_DIR": str(directory),
        "NOUS_EMBEDDER": "hashed",
        "NOUS_WORKER__LEASE": str(LEASE),
        "NOUS_WORKER__SWEEP_INTERVAL": str(SWEEP),
        "NOUS_WORKER__CONCURRENCY": "8",
        "NOUS_WORKER__BACKOFF_BASE": "0.1",
        "NOUS_WORKER__BACKOFF_CAP": "2",
        "CHAOS_RUNS": str(directory / "runs"),
        "CHAOS_THINK": str(THINK),
        **more,
    }


@contextmanager
def staged(size: Size, nursery: Nursery, fault: Set) -> Generator[Stage]:
    """A stage with nobody at work yet; nothing is left of it afterwards."""
    with tempfile.TemporaryDirectory(prefix="nous-chaos-") as name:
        directory = Path(name)
        settings = Settings(
            data_dir=directory, embedder="hashed", worker=WorkerSettings(lease=LEASE, sweep_interval=SWEEP)
        )
        try:
            container, url = build(settings), fault.way(directory)
            told = {"NOUS_REDIS_URL": url, **fault.environment(directory)}
            yield Stage(
                size=size,
                directory=directory,
                container=container,
                crew=Crew(nursery, environment=environment(directory, told), log=directory / "crew.log"),
                producer=Producer(settings.model_copy(update={"redis_url": url}), size.events),
                chance=random.Random(size.seed),
            )
        finally:
            embedded.stop(directory)
