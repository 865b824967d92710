"""A fleet of real worker processes on a real server, and what kills them."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nous.server import embedded
from nous.server.place import locate
from nous.settings.model import Settings, WorkerSettings
from nous.wiring import World, build

LEASE = 2.0
SWEEP = 0.25
WORKERS = ("episode-summarizer", "fact-extractor")


@dataclass(frozen=True)
class Size:
    """How much is done and how much is broken. The seed draws every moment and every victim."""

    events: int
    kills: int
    seed: int


@pytest.fixture
def size() -> Size:
    """Small by default; CHAOS_EVENTS, CHAOS_KILLS and CHAOS_SEED make it larger, or another."""
    return Size(
        events=int(os.environ.get("CHAOS_EVENTS", "300")),
        kills=int(os.environ.get("CHAOS_KILLS", "8")),
        seed=int(os.environ.get("CHAOS_SEED", "20260117")),
    )


@dataclass
class Fleet:
    """Worker processes that are killed and replaced."""

    environment: dict[str, str]
    log: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start one more process: `nous worker` for both workers, unless *command* says otherwise."""
        chosen = command or (sys.executable, "-m", "nous", "worker", *WORKERS)
        with self.log.open("ab") as log:
            process = subprocess.Popen(chosen, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def kill_one(self, chance: random.Random) -> None:
        """SIGKILL a process, and start another in its place."""
        victim = self.processes.pop(chance.randrange(len(self.processes)))
        victim.kill()
        victim.wait()
        self.start()

    def kill_all(self) -> None:
        """SIGKILL everybody, and whatever they have started."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def stop(self) -> list[int]:
        """SIGTERM everybody; returns how each ended."""
        for process in self.processes:
            process.terminate()
        return [process.wait(timeout=60) for process in self.processes]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A data directory whose server is gone, with the directory, when the test ends."""
    with tempfile.TemporaryDirectory(prefix="nous-chaos-") as name:
        path = Path(name)
        try:
            yield path
        finally:
            embedded.stop(path)


@pytest.fixture
def world(directory: Path) -> World:
    settings = Settings(
        data_dir=directory, embedder="hashed", worker=WorkerSettings(lease=LEASE, sweep_interval=SWEEP, concurrency=8)
    )
    return build(settings)


@pytest.fixture
def fleet(directory: Path) -> Iterator[Fleet]:
    settings = {
        "NOUS_DATA_DIR": str(directory),
        "NOUS_EMBEDDER": "hashed",
        "NOUS_LOG_LEVEL": "error",
        "NOUS_WORKER__LEASE": str(LEASE),
        "NOUS_WORKER__SWEEP_INTERVAL": str(SWEEP),
        "NOUS_WORKER__CONCURRENCY": "8",
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    fleet = Fleet({**inherited, **settings}, directory / "fleet.log")
    try:
        yield fleet
    finally:
        fleet.kill_all()


@pytest.fixture
def kill_server(directory: Path) -> Callable[[], None]:
    """SIGKILLs the embedded server, as the kernel would when memory runs out."""
    return lambda: os.kill(int(locate(directory).pid.read_text()), signal.SIGKILL)
