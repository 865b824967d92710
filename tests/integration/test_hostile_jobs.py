"""Whoever can write RQ's keys gets nothing run but our own function, and neither stops a worker nor hangs it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import redis
from builders.hostile_jobs import WORKER, hostile, plant, song_in
from builders.waiting import wait_until

from nous.jobs.base import QueueKind
from nous.redis_server import embedded

LIVE, BULK, QUARANTINE = (line.queue(WORKER) for line in (QueueKind.LIVE, QueueKind.BULK, QueueKind.QUARANTINE))


@pytest.fixture
def client(directory: Path) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(embedded.ensure(directory), protocol=2) as client:
        yield client


@pytest.fixture
def hooks() -> Iterator[tuple[str, list[str]]]:
    """An address, and the paths that were asked for there."""
    asked: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 (as the library calls it)

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", asked
        server.shutdown()


@pytest.fixture
def environment(directory: Path, tmp_path: Path) -> dict[str, str]:
    song_in(tmp_path)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH"), str(Path(__file__).parents[2])])]
    ours = {"NOUS_DATA_DIR": str(directory), "NOUS_EMBEDDER": "hashed", "CANARY": str(tmp_path / "song")}
    return {**inherited, **ours, "PYTHONPATH": os.pathsep.join(paths)}


def _pool(client: redis.Redis, environment: dict[str, str], innocents: list[str]) -> int:
    """The pool, in a process of its own, until all innocent jobs are done."""
    command = [sys.executable, "-m", "nous", "worker", WORKER]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _are_done(client, innocents) or process.poll() is not None, "all to be done", seconds=90)
        finally:
            process.send_signal(signal.SIGTERM)
    return process.returncode


def _quarantine(_: redis.Redis, environment: dict[str, str], __: list[str]) -> int:
    return _run(environment, "-m", "nous", "worker", "--quarantine", WORKER)


def _stock(client: redis.Redis, environment: dict[str, str], _: list[str]) -> int:
    url = f"unix://{client.connection_pool.connection_kwargs['path']}"
    job = ("-S", "json", "-j", "nous.jobs.rq.job.AllowListedJob")
    return _run(environment, "-m", "rq.cli", "worker", "-u", url, *job, "--burst", "--quiet", LIVE)


def _run(environment: dict[str, str], *arguments: str) -> int:
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, timeout=240, check=False).returncode


def _are_done(client: redis.Redis, innocents: list[str]) -> bool:
    return {client.hget(f"rq:job:{each}", "status") for each in innocents} == {b"finished"}


Work = Callable[[redis.Redis, dict[str, str], list[str]], int]


@pytest.mark.parametrize(
    ("work", "queues"),
    [(_pool, [LIVE, BULK]), (_quarantine, [QUARANTINE]), (_stock, [LIVE])],
    ids=["pool", "quarantine", "stock"],
)
def test_a_hostile_job_spoils_nothing_but_itself(
    client: redis.Redis,
    environment: dict[str, str],
    hooks: tuple[str, list[str]],
    work: Work,
    queues: list[str],
) -> None:
    url, asked = hooks
    every = 17 if work is _stock else 1  # it builds the world anew for each job
    innocents = [each for queue in queues for each in plant(client, queue, url, every=every)]

    returned = work(client, environment, innocents)

    assert returned == 0
    assert [client.llen(f"rq:queue:{queue}") for queue in queues] == [0] * len(queues)
    assert not [each for each in innocents if client.hget(f"rq:job:{each}", "status") != b"finished"]
    assert not Path(environment["CANARY"]).exists()
    assert asked == []
    for queue in queues:
        statuses = {name: client.hget(f"rq:job:{queue}-{name}", "status") for name in hostile(url)}
        assert [name for name, status in statuses.items() if status == b"started"] == []
        called = [status for name, status in statuses.items() if name.startswith("calls") and status]
        assert set(called) == {b"failed"}


def test_the_canary_sings_where_anybody_lets_it(client: redis.Redis, environment: dict[str, str]) -> None:
    plant(client, "theirs", "http://127.0.0.1:1/")
    url = f"unix://{client.connection_pool.connection_kwargs['path']}"
    client.ltrim("rq:queue:theirs", 0, 0)
    client.lset("rq:queue:theirs", 0, "theirs-calls-0")

    _run(environment, "-m", "rq.cli", "worker", "-u", url, "-S", "json", "--burst", "--quiet", "theirs")

    assert Path(environment["CANARY"]).exists()
