"""Sessions that go silent, with real workers: ended once, whoever is killed, however many try, and after a restart."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import waiting
from builders.command_line import Nous

from nous.app.container import Container, build
from nous.domain.session_state import SessionStatus
from nous.redis_server import embedded
from nous.settings.model import Settings

COMMAND = [sys.executable, "-m", "nous", "worker"]
BOTH = ("session-keeper", "episode-summarizer")
TEXT = (
    "User: Please always run service billing on port {number}.\n\n"
    "Assistant: Done: service billing now listens on port {number}.\n\nUser: Thanks, that is all.\n"
)


class Crew:
    """Worker processes, of which none outlives the test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, *names: str, idle: str) -> subprocess.Popen[bytes]:
        self._patch.setenv("NOUS_SESSIONS__IDLE", idle)
        process = subprocess.Popen([*COMMAND, *names], env=os.environ, stderr=subprocess.DEVNULL)
        self._running.append(process)
        return process

    def stop(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


@pytest.fixture
def crew(nous: Nous, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    assert nous("scopes").exit_code == 0  # variables are ours, and the server is up
    monkeypatch.setenv("NOUS_WORKER__SWEEP_INTERVAL", "0.1")
    monkeypatch.setenv("NOUS_WORKER__LEASE", "2")
    monkeypatch.setenv("NOUS_LOG_LEVEL", "error")
    crew = Crew(monkeypatch)
    try:
        yield crew
    finally:
        crew.stop()


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"s{number}.txt" for number in range(12)]
    for number, path in enumerate(found):
        path.write_text(TEXT.format(number=9000 + number))
    return found


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Every look is a command; processes take their time to begin where others are busy."""
    waiting.wait_until(condition, what, seconds=120, pause=0.3)


def touch(nous: Nous, *paths: Path) -> None:
    for path in paths:
        result = nous("heartbeat", path, "--session", path.stem)
        assert result.exit_code == 0, result.output


def listed(nous: Nous) -> dict[str, str]:
    return {row["session"]: row["stage"] for row in json.loads(nous("sessions", "--json").stdout)}


def summarized(nous: Nous) -> dict[str, int]:
    return {row["session_id"]: row["edition"] for row in json.loads(nous("episodes", "--json").stdout)}


def ends(directory: Path) -> int:
    container: Container = build(Settings(data_dir=directory, embedder="hashed"))
    try:
        client: Any = container.client
        return int(client.xlen("nous:events:session_ended"))
    finally:
        for client in (container.client, container.rq_client):
            client.connection_pool.disconnect()


def test_a_session_survives_its_worker_and_its_server_and_is_ended_once(
    nous: Nous, crew: Crew, directory: Path, paths: list[Path]
) -> None:
    first = crew.start("session-keeper", idle="1h")
    touch(nous, paths[0])
    wait_until(lambda: listed(nous) == {"s0": SessionStatus.OPEN}, "the touch to be noted")
    first.kill()
    first.wait()
    touch(nous, paths[1])
    embedded.stop(directory)

    assert listed(nous) == {"s0": SessionStatus.OPEN}  # which starts the server again
    crew.start(*BOTH, idle="1s")
    wait_until(lambda: summarized(nous) == {"s0": 1, "s1": 1}, "both to be summarized")

    assert ends(directory) == 2
    assert (listed(nous), nous("sessions").stdout) == ({}, "no session is open, closing or abandoned\n")
