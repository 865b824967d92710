"""A server that dies, stays away, stalls, or has no room."""

import os
import re
import resource
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from chaos.drill.fault import FAULTS, Fault, fault
from chaos.drill.stage import Stage

from nous.bus.redis.streams import wait_for_disk
from nous.redis_server import data_dir
from nous.redis_server.data_dir import DataDir

_LONGEST_STALL = 20.0
"""Seconds: more than a client waits for a reply."""
_LONGEST_SHORTAGE = 5.0
_SECOND = 1.0
_DAY = 24 * 3600
"""Seconds: what a server that syncs its log once a second may lose."""
_A_LITTLE = 20_000
"""Bytes that are left when room is taken away."""
_COMMIT = b"$4\r\nEXEC\r\n"
"""End of the writes of a script."""
_SUBJECT = re.compile(rb'"subject":"([^"]+)"')


@fault("server killed")
def kill(stage: Stage) -> None:
    """Kill the server; the first process that finds it dead restarts it."""
    stage.kill_server()


@fault("server down", overlaps=False)
def keep_down(stage: Stage) -> float:
    """Kill the server, and keep it away for a while."""
    stage.keep_server_down()
    stage.later(stage.size.outage, stage.bring_server_back)
    return stage.size.outage


@fault("server stalled", overlaps=False)
def stall(stage: Stage) -> float:
    """Pause the server for a while; then it continues where it was."""
    seconds, pid = min(stage.size.outage, _LONGEST_STALL), stage.server
    os.kill(pid, signal.SIGSTOP)
    stage.later(seconds, lambda: os.kill(pid, signal.SIGCONT))
    return seconds


@fault("disk full", overlaps=False)
def fill_disk(stage: Stage) -> None:
    """Let the server's files not grow for a while: what it accepts last, it cannot write down."""
    seconds, pid = min(stage.size.outage, _LONGEST_SHORTAGE), stage.server
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (log_of(stage.place).stat().st_size + _A_LITTLE, hard))

    def make_room() -> None:
        with suppress(ProcessLookupError):  # it was killed by the limit, and has none where it was brought back
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))

    stage.later(seconds, make_room)


@fault("memory full", overlaps=False)
def fill_memory(stage: Stage) -> float:
    """Give the server no more memory for a while."""
    seconds, client = min(stage.size.outage, _LONGEST_SHORTAGE), stage.container.client
    used: Any = client.info("memory")
    client.config_set("maxmemory", used["used_memory"] + _A_LITTLE)
    stage.later(seconds, lambda: client.config_set("maxmemory", 0))
    return seconds


class CutLog(Fault):
    """The server is killed, and the end of its log of writes is cut off: no more than may not have been on the disk."""

    def __init__(self) -> None:
        super().__init__("log cut", self._announce, overlaps=False)
        self._on_disk = ("", 0)

    def set_up(self, stage: Stage) -> None:
        def note() -> None:
            log = log_of(stage.place)
            self._on_disk = (log.name, log.stat().st_size)

        stage.producer.when_durable = note
        super().set_up(stage)

    def _announce(self, stage: Stage) -> float:
        seconds = stage.chance.uniform(0.0, _SECOND)
        with stage.producer.between:
            stage.container.client.set("synced", "")
            wait_for_disk(stage.container.client, ["synced"], ttl=_DAY)
            stage.producer.when_durable()
        stage.later(seconds, lambda: self._lose_power(stage))
        return seconds

    def _lose_power(self, stage: Stage) -> None:
        with stage.producer.between, data_dir.held(stage.place.election, within=60):
            stage.kill_server()
            log = log_of(stage.place)
            name, length = self._on_disk
            if log.name == name:
                self._cut_at(stage.chance.randint(length, log.stat().st_size), log)

    def _cut_at(self, length: int, log: Path) -> None:
        with log.open("r+b") as file:
            whole = file.read()
            file.truncate(length)
        # What was cut in the middle is dropped as well: all that stands behind the last commit that is complete.
        left = complete(whole[:length])
        self.may_be_lost |= sessions_in(whole[len(left) :]) - sessions_in(left)


FAULTS["log cut"] = CutLog


def log_of(place: DataDir) -> Path:
    """The file that the server appends to."""
    return max((place.home / "appendonlydir").glob("*.incr.aof"))


def complete(log: bytes) -> bytes:
    """Return the part of *log* that a starting server reads: up to the last complete commit."""
    end = log.rfind(_COMMIT)
    return log[: end + len(_COMMIT)] if end >= 0 else b""


def sessions_in(log: bytes) -> set[str]:
    """The sessions that a part of a log has events of."""
    return {subject.decode() for subject in _SUBJECT.findall(log)}
