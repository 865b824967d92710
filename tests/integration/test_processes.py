"""Two `nous worker` processes, one stock `rq worker` for each queue, and a producer, all at once on one server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from builders.glossary import leaked

from nous.app.container import Container, build
from nous.redis_server import embedded
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
