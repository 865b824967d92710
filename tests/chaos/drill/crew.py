"""The processes of a drill: started, killed, stopped."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from builders.waiting import wait_until

_ROOT = Path(__file__).parents[3]
WORKERS = ("episode-summarizer", "fact-extractor")
"""In the order in which work passes through them."""


class Nursery:
    """A process that has imported the product and its drill, at *root* if that is another release; it forks workers."""

    def __init__(self, root: Path = _ROOT) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NOUS_", "CHAOS_"))}
        self.environment = {**inherited, "PYTHONPATH": os.pathsep.join((str(root), str(root / "tests")))}
        self._process = subprocess.Popen(
            [sys.executable, str(root / "tests" / "chaos" / "drill" / "process.py")],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        assert self._answer() == "ready"

    def fork(self, mode: str, names: Sequence[str], environment: Mapping[str, str], log: Path) -> int:
        """Start a process; its pid."""
        assert self._process.stdin
        order = {"mode": mode, "names": [*names], "environment": {**self.environment, **environment}, "log": str(log)}
        self._process.stdin.write(json.dumps(order) + "\n")
        return int(self._answer())

    def close(self) -> None:
        """End it, and whatever it has forked."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()


class Crew:
    """Worker processes of one mode, each of which is replaced when it is killed."""

    def __init__(self, nursery: Nursery, *, environment: Mapping[str, str], log: Path) -> None:
        self._nursery = nursery
        self._environment = environment
        self._log = log
        self._modes: dict[int, str] = {}
        self._orphaned: list[int] = []
        self.deaths = 0
        """How many died that nobody here has killed."""

    @property
    def pids(self) -> list[int]:
        return [*self._modes]

    def working(self) -> list[int]:
        """Those that run handlers."""
        return [pid for pid, mode in self._modes.items() if mode != "desks"]

    def start(self, mode: str = "pool", *, nursery: Nursery | None = None) -> int:
        pid = (nursery or self._nursery).fork(mode, WORKERS, self._environment, self._log)
        self._modes[pid] = mode
        return pid

    def replace(self, pid: int, *, nursery: Nursery | None = None) -> None:
        """SIGKILL a process, and start another in its place."""
        self.kill(pid)
        self.start(self._forget(pid), nursery=nursery)

    def replace_whole(self, pid: int) -> None:
        """The same, with whatever it has started: nothing of what is in flight in it goes on."""
        below = children(pid)
        self.replace(pid)
        for each in below:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)

    def kill(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(pid), f"the end of process {pid}")

    def revive(self) -> None:
        """Start another for each that has died by itself."""
        for pid in [pid for pid in self._modes if not alive(pid)]:
            self.deaths += 1
            self.start(self._forget(pid))

    def one(self, chance: random.Random) -> int:
        return chance.choice(self.working())

    def drain(self, pid: int) -> None:
        """SIGTERM a process, wait until it has come to its end, and start another."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not alive(pid), f"process {pid} to drain", seconds=60)
        self.start(self._forget(pid))

    def stop(self) -> None:
        """SIGTERM everybody, and wait until they are gone."""
        for pid in self._modes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in self._modes:
            wait_until(lambda pid=pid: not alive(pid), f"process {pid} to drain", seconds=60)
        self._modes.clear()

    def end(self) -> None:
        """SIGKILL everybody, and what they and the dead have started: an orphan would bring the server back."""
        for pid in (*self._modes, *self._orphaned):
            for kill in (os.kill, os.killpg):  # one that has just begun leads no group yet
                with suppress(ProcessLookupError):
                    kill(pid, signal.SIGKILL)
        self._modes.clear()
        self._orphaned.clear()

    def _forget(self, pid: int) -> str:
        """Take a dead process off the list, but remember its group while that has members; its mode."""
        with suppress(ProcessLookupError):
            os.killpg(pid, 0)
            self._orphaned.append(pid)
        return self._modes.pop(pid)


def children(pid: int) -> list[int]:
    """The processes that *pid* has started and that run."""
    with suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return False
    return state not in "ZX"
