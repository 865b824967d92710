"""Two installations on one database, with the same sessions in the same scopes: each does its own work alone."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container, build
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import encode
from nous.jobs.rq.queue import workers_seen
from nous.redis_server import embedded
from nous.runtime.worker_process import Dispatcher
from nous.settings.model import Settings

NAMES = ("nous", "acme.prod_2")
WORKERS = ("episode-summarizer", "fact-extractor")
SUMMARIZER = WORKERS[0]
SESSIONS = {"nous": 6, "acme.prod_2": 9}
"""The first six of them are the same for both, so that their events have the same ids."""
TEXT = (
    "User: Please always run service svc-{number} on port 900{number}, never on another one.\n\n"
    "Assistant: Done. Service svc-{number} now runs on port 900{number}.\n\nUser: Thanks, that is all I needed.\n"
)
JOB = ("-S", "json", "-j", "nous.jobs.rq.job.AllowListedJob")

Run = Callable[..., Any]


@pytest.fixture
def environments(directory: Path) -> dict[str, dict[str, str]]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    ours = {"NOUS_DATA_DIR": str(directory), "NOUS_EMBEDDER": "hashed", "NOUS_LOG_LEVEL": "error"}
    ours |= {"NOUS_WORKER__SWEEP_INTERVAL": "0.2", "NOUS_WORKER__LEASE": "30"}
    return {prefix: {**inherited, **ours, "NOUS_PREFIX": prefix} for prefix in NAMES}


@pytest.fixture
def worlds(directory: Path) -> dict[str, Container]:
    return {prefix: build(Settings(data_dir=directory, embedder="hashed", prefix=prefix)) for prefix in NAMES}


@pytest.fixture
def nous(environments: Mapping[str, dict[str, str]]) -> Run:
    """`nous("mine", "status")`, and the JSON that it prints."""

    def run(prefix: str, *arguments: str) -> Any:
        command = [sys.executable, "-m", "nous", *arguments, "--json"]
        printed = subprocess.run(command, env=environments[prefix], check=True, capture_output=True).stdout
        return [json.loads(line) for line in printed.splitlines()] if "publish" in arguments else json.loads(printed)

    return run


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    found = [tmp_path / f"s{number}.txt" for number in range(max(SESSIONS.values()))]
    for number, path in enumerate(found):
        path.write_text(TEXT.format(number=number))
    return [str(path) for path in found]


def test_each_gets_its_own_once_and_shows_and_forgets_its_own_alone(
    worlds: Mapping[str, Container],
    environments: Mapping[str, dict[str, str]],
    nous: Run,
    paths: list[str],
    wait_until: Any,
) -> None:
    with at_work(environments):
        wait_until(lambda: len(workers_seen(worlds["nous"].client)) == 4, "four RQ workers to register", seconds=60)
        published = {prefix: nous(prefix, "publish", *paths[: SESSIONS[prefix]], "--wait") for prefix in NAMES}
        told = {prefix: nous(prefix, "status") for prefix in NAMES}

    for prefix, count in SESSIONS.items():
        container, status = worlds[prefix], told[prefix]
        accounts = [container.delivery_stats.counters(container.subscription(name)) for name in WORKERS]
        assert [(each.received, each.done, each.discrepancy) for each in accounts] == [(count, count, 0)] * 2
        assert [step["where"] for row in published[prefix] for step in row["steps"]] == ["done", "done"] * count
        assert container.dead_letters.count() == 0
        finished = {queue["name"]: queue["finished"] for queue in status["queues"] if queue["finished"]}
        assert finished == {container.job_names.own(name): count for name in WORKERS}
        assert {attempt_of(job) for job in jobs_of(container)} == {"1"}
        assert [seen["name"].startswith("acme.prod_2--") for seen in status["workers"]] == [prefix != "nous"] * 2
    assert {row["event"] for row in published["nous"]} < {row["event"] for row in published["acme.prod_2"]}

    for prefix, session in zip(NAMES, published["nous"], strict=False):  # another one in each
        before = {each: len(jobs_of(worlds[each])) for each in NAMES}
        burst(environments[prefix], "nous", "forget", "--session", session["session"], "--yes")
        after = {each: len(jobs_of(worlds[each])) for each in NAMES}
        assert {each: before[each] - after[each] for each in NAMES} == {each: 2 * (each == prefix) for each in NAMES}
    assert [len(nous(prefix, "episodes")) for prefix in NAMES] == [5, 8]


def test_a_stock_worker_with_the_settings_of_another_installation_is_refused_and_nothing_is_lost(
    directory: Path,
    environments: Mapping[str, dict[str, str]],
    worlds: Mapping[str, Container],
    ended: Any,
    wait_until: Any,
) -> None:
    """Both have the same event at the same entry, so that only the name of its worker tells whose the job is."""
    for container in worlds.values():
        publish_at(container, "7-1", ended("s0", TEXT))
        dispatch(container)

    for settings, queues in (("nous", "acme.prod_2"), ("acme.prod_2", "nous")):
        queue = worlds[queues].job_names.own(SUMMARIZER)
        burst(environments[settings], "rq.cli", "worker", "-u", embedded.ensure(directory), *JOB, "--burst", queue)

    for container in worlds.values():
        [job] = jobs_of(container)
        assert container.rq_client.hget(job, "status") == b"failed"
        account = account_of(container)
        assert (account.received, account.done, account.in_flight) == (1, 0, 1)
    with at_work(environments):
        wait_until(lambda: [account_of(each).done for each in worlds.values()] == [1, 1], "both to be done", seconds=60)
    assert [container.dead_letters.count() for container in worlds.values()] == [0, 0]


@contextmanager
def at_work(environments: Mapping[str, dict[str, str]]) -> Generator[None]:
    """A process of workers for each installation."""
    with ExitStack() as stack:
        for environment in environments.values():
            process = subprocess.Popen([sys.executable, "-m", "nous", "worker", *WORKERS], env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def account_of(container: Container) -> GroupCounters:
    return container.delivery_stats.counters(container.subscription(SUMMARIZER))


def jobs_of(container: Container) -> list[bytes]:
    found: list[bytes] = sorted(container.client.scan_iter("rq:job:*", count=1000))
    return [key for key in found if container.job_names.attempt_of(key.decode().removeprefix("rq:job:"))]


def attempt_of(job: bytes) -> str:
    return job.decode().rpartition("--")[2]


def publish_at(container: Container, entry: str, event: Any) -> None:
    """Publish *event* at just that entry of the stream, as a foreign producer may."""
    stream = BusKeys(container.settings.prefix).stream(event.type, Priority.LIVE)
    container.client.xadd(stream, {"event": encode(event)}, id=entry)


def dispatch(container: Container) -> None:
    """Have what was published stand in its queue, as a process does that dies right after."""
    subscription = container.subscription(SUMMARIZER)
    assert Dispatcher(subscription, bus=container.bus, jobs=container.jobs, ahead=4, lease=0.1).dispatch() == 1


def burst(environment: Mapping[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", *arguments]
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, timeout=240, check=True)
