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
from typing import Protocol

from chaos.drill.crew import Crew, Nursery
from chaos.drill.producer import Producer
from chaos.drill.size import Size
from chaos.drill.system import WORKERS, System

from nous.app.container import Container, build
from nous.redis_server import data_dir, embedded
from nous.redis_server.data_dir import DataDir, locate
from nous.settings.model import Settings, WorkerSettings

LEASE = 2.0
SWEEP = 0.25
THINK = 0.04
_LONGEST_DEATH = 30.0


class Set(Protocol):
    """What a fault says of the stage it needs."""

    def way(self, directory: Path) -> str: ...

    def environment(self, directory: Path) -> Mapping[str, str]: ...


@dataclass(kw_only=True)
class Stage:
    """All that a fault may break. `world` looks at the server directly; processes reach it by `environment`."""

    size: Size
    system: System
    directory: Path
    container: Container
    crew: Crew
    nursery: Nursery
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

    def later(self, seconds: float, action: Callable[[], None]) -> None:
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
        """SIGKILL it, as the kernel would when memory runs out; whoever finds it dead brings it back."""
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
def staged(size: Size, nursery: Nursery, fault: Set, system: System) -> Generator[Stage]:
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
                system=system,
                directory=directory,
                container=container,
                crew=Crew(nursery, names=WORKERS, environment=environment(directory, told), log=directory / "crew.log"),
                nursery=nursery,
                producer=Producer(settings.model_copy(update={"redis_url": url}), size),
                chance=random.Random(size.seed),
            )
        finally:
            embedded.stop(directory)
