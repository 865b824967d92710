"""The embedded server: shared by all, ended by nobody but `stop`, and never two of it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from builders.waiting import wait_until

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server import data_dir, embedded
from nous.redis_server.client import connect, connect_rq
from nous.redis_server.data_dir import locate
from nous.settings import Settings

STARTER = """
import sys
from pathlib import Path
from nous.redis_server.client import connect
from nous.settings import Settings

settings = Settings(data_dir=Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
client = connect(settings)
client.incr("starters")
print(client.info("server")["process_id"], flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """A data directory with a short path, whose server is gone when the test is over."""
    root = Path(tempfile.mkdtemp(prefix="nous-test-"))
    yield root / "data"
    for home in root.glob("**/redis"):
        embedded.stop(home.parent)
        assert not data_dir.is_held(locate(home.parent).alive)
    shutil.rmtree(root)


@pytest.fixture
def start(directory: Path) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Make processes that are about to ask for the server, and do so at the next line they read."""
    started: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        with suppress(BrokenPipeError):
            process.communicate()


def say(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def hear(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def pid_of(client: redis.Redis) -> int:
    return int(client.info("server")["process_id"])


def kill(pid: int, directory: Path) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not data_dir.is_held(locate(directory).alive), "the killed server to be gone")


def client_of(directory: Path) -> redis.Redis:
    return connect(Settings(data_dir=directory))


def test_many_processes_that_start_at_once_share_one_server(
    directory: Path, start: Callable[[], "subprocess.Popen[str]"]
) -> None:
    racers = [start() for _ in range(6)]
    assert [hear(racer) for racer in racers] == ["ready"] * 6

    for racer in racers:
        say(racer)

    assert len({hear(racer) for racer in racers}) == 1
    assert client_of(directory).get("starters") == b"6"


def test_the_server_outlives_the_process_group_that_started_it(
    directory: Path, start: Callable[[], "subprocess.Popen[str]"]
) -> None:
    starter = start()
    hear(starter)
    say(starter)
    pid = int(hear(starter))

    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()

    client = client_of(directory)
    assert pid_of(client) == pid
    assert client.get("starters") == b"1"


@pytest.mark.parametrize("moment", ["election", "server"])
def test_a_starter_killed_halfway_leaves_the_way_free(
    moment: str, directory: Path, start: Callable[[], "subprocess.Popen[str]"]
) -> None:
    place = locate(directory)
    starter = start()
    hear(starter)
    say(starter)
    files = {"election": place.election, "server": place.alive}
    wait_until(
        lambda: data_dir.is_held(files[moment]) or data_dir.is_held(place.alive), f"the {moment} to begin", pause=0.001
    )

    starter.kill()
    starter.wait()

    embedded.ensure(directory)
    assert embedded.status(directory).state == "running"


def test_a_killed_server_is_replaced_by_one_with_its_data(directory: Path) -> None:
    client = client_of(directory)
    client.set("kept", 1)
    before = pid_of(client)
    kill(before, directory)

    embedded.ensure(directory)

    after = client_of(directory)
    assert after.get("kept") == b"1"
    assert pid_of(after) != before


@pytest.mark.parametrize("make", [connect, connect_rq])
def test_a_client_brings_a_killed_server_back_by_itself(
    make: Callable[[Settings], redis.Redis], directory: Path
) -> None:
    client = make(Settings(data_dir=directory))
    client.set("kept", 1)

    kill(pid_of(client), directory)

    assert client.get("kept") == b"1"


def test_a_server_stopped_on_purpose_stays_down_until_it_is_asked_for(directory: Path) -> None:
    client = client_of(directory)
    client.set("kept", 1)
    assert embedded.stop(directory)

    with pytest.raises(redis.ConnectionError, match="nous up"):
        client.get("kept")
    assert embedded.status(directory).state == "stopped"

    embedded.ensure(directory)
    assert client.get("kept") == b"1"


def test_stopping_says_whether_anything_ran(directory: Path) -> None:
    assert not embedded.stop(directory)
    assert not directory.exists()

    embedded.ensure(directory)

    assert embedded.stop(directory)
    assert not embedded.stop(directory)


def test_asking_again_changes_nothing(directory: Path) -> None:
    url = embedded.ensure(directory)
    pid = pid_of(client_of(directory))

    assert embedded.ensure(directory / ".." / directory.name) == url
    assert pid_of(client_of(directory)) == pid


def test_nobody_else_can_reach_the_data(directory: Path) -> None:
    embedded.ensure(directory)
    place = locate(directory)

    modes = {
        path.name: path.stat().st_mode & 0o077 for path in (place.home, place.socket, place.home / "appendonlydir")
    }
    assert modes == {"redis": 0, "server.sock": 0, "appendonlydir": 0}
    assert place.home.stat().st_mode & 0o700 == 0o700


@pytest.mark.parametrize("name", ["with space and 'quote'", "täst", "x" * 150])
def test_any_path_will_do(name: str, directory: Path) -> None:
    client = client_of(directory / name)
    client.set("kept", 1)
    kill(pid_of(client), directory / name)

    assert client.get("kept") == b"1"
    assert len(os.fsencode(locate(directory / name).socket)) <= 100


def test_a_cut_tail_of_the_log_of_writes_costs_only_that_tail(directory: Path) -> None:
    client = client_of(directory)
    for number in range(10):
        client.set(f"key-{number}", number)
    # While it syncs, a server answers before it writes; what it has in hand then is not in the file.
    wait_until(lambda: not client.info("persistence")["aof_buffer_length"], "the writes to be in the file")
    kill(pid_of(client), directory)
    (written,) = locate(directory).home.glob("appendonlydir/*.incr.aof")
    os.truncate(written, written.stat().st_size - 5)

    assert client.mget([f"key-{number}" for number in range(10)]) == [*(b"%d" % n for n in range(9)), None]


def test_a_server_that_cannot_start_says_why(directory: Path) -> None:
    client_of(directory).set("kept", 1)
    embedded.stop(directory)
    (written,) = locate(directory).home.glob("appendonlydir/*.incr.aof")
    written.write_bytes(b"this is no log of writes\r\n" + written.read_bytes())

    with pytest.raises(Misconfigured, match="Bad file format"):
        embedded.ensure(directory)


def test_a_server_that_is_slow_is_not_taken_for_dead(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = pid_of(client_of(directory))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert embedded.status(directory).state == "busy"
        monkeypatch.setattr(embedded, "PATIENCE", 0.1)
        with pytest.raises(Unavailable, match="lives but does not answer"):
            embedded.ensure(directory)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert pid_of(client_of(directory)) == pid
