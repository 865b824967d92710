"""`nous watch` and `nous up` with folders to sweep, on a real server."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import waiting
from builders.command_line import Nous, on_terminal
from builders.crew import built
from builders.keyspace import keys_with

from nous.app.container import Container
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import FAILED
from nous.domain.session_state import SessionStatus
from nous.redis_server import embedded
from nous.settings.model import Settings

HOUR, DAY = 3600, 86400
PORTS = "User: Which port has service {}?\n\nAssistant: It has port {}.\n"
COUNTED = ("handed_over", "known", "still_going", "past", "refused", "refused_before", "put_off")


def written(folder: Path, name: str, *, age: float = HOUR, text: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or f"User: I am session {name}, and live in Berlin.\n\nAssistant: I will remember that.\n")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def lengths(container: Container) -> list[int]:
    """How many sessions were received, live and in bulk."""
    return [container.client.xlen(BusKeys().stream("session_ended", priority)) for priority in Priority]  # pyright: ignore[reportReturnType]


def process(*arguments: str, **more: str) -> "subprocess.Popen[bytes]":
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "nous", *arguments], env=os.environ | more, stdout=quiet, stderr=quiet
    )


@contextmanager
def running(*arguments: str, **more: str) -> "Generator[subprocess.Popen[bytes]]":
    started = process(*arguments, **more)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def test_what_a_sweep_tells_adds_up_and_its_exit_code_tells_of_what_was_refused(
    nous: Nous, container: Container, tmp_path: Path
) -> None:
    folder = tmp_path / ".agent"
    for name, age in (("a.txt", HOUR), ("b.txt", 2 * DAY), ("going.txt", 10), ("past.txt", 40 * DAY)):
        written(folder, name, age=age)
    bad = written(folder, "bad.jsonl", text='{"torn')

    first = nous("watch", folder, "--once")
    second = nous("watch", folder, "--once", "--json")

    assert first.exit_code == FAILED
    assert "5 seen: 2 submitted, 0 known, 1 still active, 1 too old, 1 refused\n" in first.stdout
    assert f"nous: {bad}: this is no transcript" in first.stderr
    assert "1 file not written for 30 days: " in first.stderr
    assert "nous publish --bulk" in first.stderr
    told = json.loads(second.stdout)
    assert second.exit_code == 0
    assert told["seen"] == sum(told[each] for each in COUNTED) == 5
    assert [told["known"], told["refused_before"]] == [2, 1]
    assert lengths(container) == [1, 1]


def test_a_dry_run_says_what_would_be_handed_over_and_does_nothing(
    nous: Nous, container: Container, tmp_path: Path
) -> None:
    path = written(tmp_path, "s.txt")

    looked = nous("watch", tmp_path, "--dry-run")

    assert looked.stdout == f"would be read, live: {path}\n{LOOKED}\n"
    assert lengths(container) == [0, 0]
    assert "1 submitted" in nous("watch", tmp_path, "--once").stdout


LOOKED = "1 seen: 1 would be read, 0 known, 0 still active, 0 too old, 0 refused"


def test_a_forgotten_session_does_not_come_back_and_its_file_is_in_no_key(
    nous: Nous, container: Container, tmp_path: Path
) -> None:
    session = '{"id":"%s","messages":[{"role":"user","content":"%s"}]}\n'
    written(tmp_path, "planted.jsonl", text=session % ("planted", "hi") + session % ("other", "hi"))
    nous("watch", tmp_path, "--once")
    assert nous("forget", "--session", "planted", "--yes").exit_code == 0
    assert lengths(container) == [1, 0]
    written(tmp_path, "planted.jsonl", text=session % ("planted", "hello") + session % ("other", "hello"))

    again = nous("watch", tmp_path, "--once", "--json")

    assert lengths(container) == [2, 0]
    assert [each["why"] for each in json.loads(again.stdout)["files"]["refused"]] == ["its session was forgotten"]
    assert keys_with(container.client, "planted") == {}


def test_killed_at_any_moment_and_two_at_once_it_hands_over_every_session_once(
    nous: Nous, container: Container, tmp_path: Path, wait_until: Any
) -> None:
    for number in range(150):
        written(tmp_path, f"{number}.txt", age=HOUR + number)
    for enough in (1, 60):
        one, other = (process("watch", str(tmp_path), NOUS_WATCH__INTERVAL="0.1") for _ in range(2))
        wait_until(lambda least=enough: lengths(container)[0] >= least, f"{enough} sessions to be handed over")
        for each in (one, other):
            each.kill()
            each.wait()

    told = json.loads(nous("watch", tmp_path, "--once", "--json").stdout)

    assert told["handed_over"] + told["known"] == told["seen"] == 150
    assert lengths(container) == [150, 0]
    assert json.loads(nous("watch", tmp_path, "--once", "--json").stdout)["known"] == 150


def test_everything_that_runs_on_this_machine_sweeps_the_folders_that_are_set(
    nous: Nous, container: Container, tmp_path: Path, wait_until: Any
) -> None:
    (tmp_path / "sessions").mkdir()
    folders = json.dumps([str(tmp_path / "sessions"), str(tmp_path / "none")])
    with running("up", NOUS_WATCH__FOLDERS=folders, NOUS_WATCH__INTERVAL="0.1", NOUS_WATCH__SCOPE="ann") as up:
        written(tmp_path, "sessions/s.txt")
        wait_until(lambda: "session s-" in nous("episodes", "--scope", "ann").stdout, "its episode")
        up.send_signal(signal.SIGTERM)
        assert up.wait(timeout=30) == 0

    assert lengths(container) == [1, 0]


@pytest.mark.usefixtures("nous")  # it sets the data directory
def test_publishing_much_on_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    for number in range(30):
        written(tmp_path, f"{number}.txt", text=PORTS.format(number, number))

    shown, code = on_terminal("publish", *map(str, tmp_path.iterdir()), "--scope", "much")

    assert code == 0
    assert re.search(r"publishing .* 30/30", shown)


def test_a_program_gets_a_line_of_json_for_each_session(nous: Nous, tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path, f"{number}.txt", text=PORTS.format(number, number))

    rows = [json.loads(line) for line in nous("publish", *tmp_path.iterdir(), "--json").stdout.splitlines()]

    assert [row["published"] for row in rows] == ["now"] * 3


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
    with built(Settings(data_dir=directory, embedder="hashed")) as container:
        client: Any = container.client
        return int(client.xlen("nous:events:session_ended"))


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
