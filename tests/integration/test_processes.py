"""Two `nous worker` processes, one stock `rq worker` for each queue, and a producer, all at once on one server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from builders.command_line import Nous
from builders.glossary import leaked
from click.testing import CliRunner
from rq import Worker

import workers
from nous.app.container import Container, build
from nous.bus.redis.streams import wait_for_disk
from nous.cli import main
from nous.domain.errors import Misconfigured, Unavailable
from nous.jobs.base import QueueKind
from nous.jobs.rq.queue import queue_named
from nous.redis_server import embedded
from nous.redis_server.client import connect, refuse_unsafe
from nous.settings.model import Settings

WORKERS = ("episode-summarizer", "fact-extractor")
SESSIONS = 40
SCRIPTS = Path(sys.executable).parent


def test_pools_and_stock_workers_share_the_work_and_the_accounts_add_up(
    directory: Path, tmp_path: Path, wait_until: Any
) -> None:
    container = build(Settings(data_dir=directory, embedder="hashed"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")} | {
        "NOUS_DATA_DIR": str(directory),
        "NOUS_EMBEDDER": "hashed",
        "NOUS_WORKER__CONCURRENCY": "1",
    }
    paths = [written(tmp_path, number) for number in range(SESSIONS)]
    processes: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        for command in commands(embedded.ensure(directory)):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            processes.append(process)
        wait_until(lambda: len(worker_names(container)) == 6, "six RQ workers to register")

        publish = [sys.executable, "-m", "nous", "publish", *paths, "--wait", "--json"]
        published = subprocess.run(publish, env=environment, check=True, capture_output=True)
        took_part = runners(container)
        for process in processes:
            process.terminate()
        assert [process.wait(60) for process in processes] == [0] * 4
    assert worker_names(container) == set(), "who was ended properly is not shown"

    rows = [json.loads(line) for line in published.stdout.splitlines()]
    assert [step["where"] for row in rows for step in row["steps"]] == ["done", "done"] * SESSIONS
    assert {kind for kind, _ in took_part} == {"pool", "stock"}
    accounts = [container.delivery_stats.counters(container.subscription(name)) for name in WORKERS]
    assert [(account.received, account.done, account.discrepancy) for account in accounts] == [
        (SESSIONS, SESSIONS, 0)
    ] * 2
    assert leaked(container.client) == []


def commands(url: str) -> Iterator[list[str]]:
    for _ in range(2):
        yield [sys.executable, "-m", "nous", "worker", *WORKERS]
    for name in WORKERS:
        job = "nous.jobs.rq.job.AllowListedJob"
        yield [str(SCRIPTS / "rq"), "worker", "-u", url, "-S", "json", "-j", job, "--name", f"stock-{name}", name]


def written(folder: Path, number: int) -> str:
    path = folder / f"session-{number}.txt"
    path.write_text(
        f"User: Please always run service svc-{number} on port {9000 + number}, never on another one.\n\n"
        f"Assistant: Done. Service svc-{number} now runs on port {9000 + number}.\n\n"
        "User: Thanks, that is all I needed.\n"
    )
    return str(path)


def worker_names(container: Container) -> set[bytes]:
    members: Any = container.client.smembers("rq:workers")
    return members


def runners(container: Container) -> set[tuple[str, str]]:
    """Which kinds of worker ran jobs of which queue."""
    jobs = list(container.client.scan_iter("rq:job:*", count=1000))
    values: list[Any] = [container.client.hmget(job, "worker_name", "origin") for job in jobs]
    names = [(name.decode(), origin.decode()) for name, origin in values if name]
    return {("stock" if name.startswith("stock") else "pool", origin) for name, origin in names}


def test_who_stops_the_server_is_told_that_workers_wait_for_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_DATA_DIR", str(directory))
    connect(Settings(data_dir=directory)).ping()

    stopped, again = (CliRunner().invoke(main, ["down"]).stdout for _ in range(2))

    assert stopped.startswith(f"stopped the server of {directory}; workers that still run wait")
    assert again == f"no server was running in {directory}\n"


def test_the_embedded_server_is_a_safe_one(directory: Path) -> None:
    refuse_unsafe(connect(Settings(data_dir=directory)))


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [("maxmemory-policy", "allkeys-lru", "maxmemory-policy is allkeys-lru"), ("appendonly", "no", "append-only")],
)
def test_a_real_server_that_may_lose_data_is_refused(setting: str, value: str, complaint: str, directory: Path) -> None:
    client = connect(Settings(data_dir=directory))
    client.config_set(setting, value)

    with pytest.raises(Misconfigured, match=complaint):
        refuse_unsafe(client)
    refuse_unsafe(client, allow=True)


def test_no_world_is_built_on_a_server_that_may_lose_data(directory: Path) -> None:
    settings = Settings(data_dir=directory, embedder="hashed")
    connect(settings).config_set("maxmemory-policy", "allkeys-lru")

    with pytest.raises(Misconfigured, match="this server is refused"):
        build(settings)


def test_the_embedded_server_brings_what_it_takes_to_its_disk_by_itself(directory: Path) -> None:
    client = connect(Settings(data_dir=directory))
    client.set("taken", "1")

    wait_for_disk(client, ["taken"], ttl=60)
    with pytest.raises(Unavailable, match="has lost what it had taken"):
        wait_for_disk(client, ["taken", "lost"], ttl=60)


CHAT = "User: Which port does service billing use?\n\nAssistant: Billing listens on port 9017 from now on.\n"

ECHOER = """
from dataclasses import dataclass
from typing import ClassVar

from nous.domain.events import Event
from nous.pipeline.worker import Worker


@dataclass(frozen=True, kw_only=True)
class Echo(Event):
    type: ClassVar[str] = "echo"


WORKER = Worker("echoer", Echo, lambda context: None)
"""


def run_elsewhere(container: Container, name: str, *, known_as: str = "") -> None:
    """Register a process that runs the worker *name* alone: a `nous worker`, or one that RQ knows as *known_as*."""
    queue = queue_named(QueueKind.LIVE.queue(container.job_names.own(name)), container.rq_client)
    ours = f"{queue.name}-{gethostname()}-{os.getpid()}-ab"
    Worker([queue], name=known_as or ours, connection=container.rq_client).register_birth()


def test_a_worker_of_one_file_with_an_event_of_its_own_is_counted_and_named(
    container: Container, nous: Nous, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echoer.py").write_text(ECHOER)
    monkeypatch.setattr(workers, "__path__", [*workers.__path__, str(tmp_path)])
    container.client.xadd("nous:events:echo", {"event": '{"data":{"session_id":"s-1"}}'})
    container.client.xgroup_create("nous:events:echo", "echoer", id="0")

    assert nous("status").stdout.startswith("0 sessions, 0 facts: 1 waiting\n")


def test_who_publishes_is_told_if_no_process_dispatches(container: Container, nous: Nous, tmp_path: Path) -> None:
    def told(name: str) -> str:
        (tmp_path / name).write_text(CHAT)
        return nous("publish", tmp_path / name).stderr

    assert "no worker runs yet" in told("first.txt")
    assert "no worker runs yet" not in told("first.txt"), "nothing of it is new"

    run_elsewhere(container, "episode-summarizer", known_as="episode-summarizer-1")
    assert "no worker runs yet" in told("second.txt")

    run_elsewhere(container, "fact-extractor")
    assert "no worker runs yet" not in told("third.txt")
