"""Two installations on one database, with the same sessions in the same scopes: each does its own work alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous, on_terminal
from builders.episodes import HOME
from builders.fact_rows import learned
from builders.town import HERE, OTHER, SECRET, SHARED, Town, told

from nous.app.container import Container, build
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority
from nous.bus.delivery_state import RetryPolicy
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import BAD_INPUT
from nous.domain.effects import AppendFacts, Effects
from nous.domain.event_codec import encode
from nous.domain.fact import LogVersion
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
def nous_of(environments: Mapping[str, dict[str, str]]) -> Run:
    """`nous_of("mine", "status")`, and the JSON that it prints."""

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
    nous_of: Run,
    paths: list[str],
    wait_until: Any,
) -> None:
    with at_work(environments):
        wait_until(lambda: len(workers_seen(worlds["nous"].client)) == 4, "four RQ workers to register", seconds=60)
        published = {prefix: nous_of(prefix, "publish", *paths[: SESSIONS[prefix]], "--wait") for prefix in NAMES}
        told = {prefix: nous_of(prefix, "status") for prefix in NAMES}

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
    assert [len(nous_of(prefix, "episodes")) for prefix in NAMES] == [5, 8]


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
    policy = RetryPolicy(lease=0.1)
    dispatcher = Dispatcher(subscription, bus=container.bus, jobs=container.jobs, retry_policy=policy, ahead=4)
    assert dispatcher.dispatch() == 1


def burst(environment: Mapping[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", *arguments]
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, timeout=240, check=True)


SCOPE = ("--scope", str(HERE))
PORT = "The staging API listens on port 8080"


def test_an_episode_goes_by_the_beginning_of_its_id(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords")
    for session in (f"{OTHER}-1", f"{OTHER}-2"):
        town.publish(session, "otherwords")
    town.settle()
    command = ("episodes", "--editions")

    short, several = (nous(*command, name, *SCOPE) for name in ("secr", OTHER))

    assert (short.output, short.exit_code) == (nous(*command, SECRET, *SCOPE).output, 0)
    assert f"session {SECRET}" in short.output
    assert nous("status", "secr", *SCOPE).stdout == nous("status", SECRET, *SCOPE).stdout
    assert "is too short to name a session: give at least 4" in nous(*command, "sec", *SCOPE).stderr
    for said in (several, nous("status", OTHER, *SCOPE)):
        assert f"2 sessions have an id that begins with {OTHER!r}: " in said.stderr
    assert several.exit_code == BAD_INPUT


def test_a_session_that_was_forgotten_is_not_taken_for_one_that_begins_so(town: Town, nous: Nous) -> None:
    for session in ("abcd", "abcde"):
        town.publish(session, "otherwords")
    town.settle()
    nous("forget", "--session", "abcd", "--yes", *SCOPE)

    for command in (("status",), ("show",), ("episodes", "--editions")):
        result = nous(*command, "abcd", *SCOPE)
        assert "session abcd was forgotten on 20" in result.stderr
        assert (result.stdout, result.exit_code) == ("", BAD_INPUT)


def test_who_asks_for_a_session_or_a_fact_of_another_scope_is_told_which_there_are(town: Town, nous: Nous) -> None:
    town.publish(SECRET, "plantedwords", compacting=True)
    town.publish(SECRET, "plantedwords")
    town.settle()
    nous("facts", "learn", stdin=json.dumps(PORT))
    fact = str(town.facts()[SHARED])

    for command in (
        ("episodes", "--editions", SECRET),
        ("status", SECRET),
        ("show", SECRET),
        ("forget", "--session", SECRET, "--yes"),
        ("forget", "--fact", fact, "--yes"),
        ("facts", "merge", fact[:8], fact[:8]),
    ):
        assert nous(*command).stderr.endswith(f"; other scopes are {HERE}\n"), command


@pytest.mark.parametrize("command", [("facts",), ("search", "port"), ("status", "s1"), ("provenance", "abcdef")])
def test_whoever_finds_nothing_in_a_scope_is_told_in_which_there_is_something(
    nous: Nous, command: tuple[str, ...]
) -> None:
    nous("facts", "learn", "--scope", "office/cc", stdin=json.dumps(PORT))

    assert "; other scopes are default/office/cc\n" in nous(*command, "--scope", "typo").output


def test_scopes_are_listed_with_how_much_there_is_in_each(nous: Nous, town: Town) -> None:
    assert nous("scopes").stdout == "there is no scope yet: nous publish creates one\n"
    town.publish(SECRET, "plantedwords")
    town.settle()
    nous("facts", "learn", "--scope", "office/cc", stdin=json.dumps(PORT))

    rows = json.loads(nous("scopes", "--json").stdout)

    assert [(row["scope"], row["sessions"], row["facts"]) for row in rows] == [
        (str(HERE), 1, 2),
        ("default/office/cc", 0, 1),
    ]
    assert re.search(rf"^1 +2 +{rows[0]['last_learned'][:10]} .* UTC  {HERE}$", nous("scopes").stdout, re.MULTILINE)


def test_what_became_of_sessions_is_a_row_each_that_fits_the_terminal(town: Town, nous: Nous, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.txt" for name in ("first", "second", f"short-{'and-' * 30}so-on")]
    for file, text in zip(files, (told("plantedwords"), told("otherwords"), "User: Hi\n\nAssistant: Ho"), strict=True):
        file.write_text(text)
    nous("publish", *files, *SCOPE)
    town.settle()

    said, code = on_terminal("publish", *files, files[0], "--wait", *SCOPE)

    rows = said.splitlines()[-5:]
    cells = [re.split(" {2,}", row) for row in rows]
    assert code == 0
    assert cells[0] == ["outcome", "facts", "id", "session"]
    assert [title for *_, title in cells[1:3]] == ["About plantedtitle (first.txt)", "About the canteen (second.txt)"]
    assert [facts for _, facts, *_ in cells[1:3]] == ["2", "2"]
    assert cells[3][:2] == ["skipped: too short", "-"]
    assert rows[4].startswith("3 sessions, 0 new: ")
    assert rows[4].endswith(f"; 3 facts in {HERE}")
    assert nous("status", cells[1][2], *SCOPE).stdout.startswith(f"session {cells[1][2]}")
    assert max(map(len, rows)) <= 80


def test_facts_are_told_in_the_order_in_which_they_were_said(nous: Nous, container: Container) -> None:
    first, second = learned(PORT, embedded_by=None), learned("Tim drinks\ntea", embedded_by=None)
    early = replace(second.fact.source, said_at=datetime(2020, 1, 2, tzinfo=UTC))
    rows = (first, replace(second, fact=replace(second.fact, source=early)))
    container.bus.apply(Effects(writes=(AppendFacts(scope=HOME, expected=LogVersion(), rows=rows),)))

    lines = nous("facts", "--scope", HOME).stdout.splitlines()

    assert lines[0::2] == ["Tim drinks tea", PORT]
    assert "2020-01-02" in lines[1]


def test_what_is_decided_is_kept_for_a_session_yet_to_come_without_what_steers_a_terminal(
    town: Town, nous: Nous
) -> None:
    noted = nous("record-decision", "run-1", "We keep\x1b Postgres\nand\u2028make", "--category", "to\x1bol", *SCOPE)
    town.publish("run-1", "otherwords")
    town.settle()

    assert (noted.stdout, noted.exit_code) == ("recorded\n", 0)
    assert "the next episode of session 'run-1'" in noted.stderr
    [kept] = json.loads(nous("episodes", "--json", *SCOPE).stdout)
    assert [(each["category"], each["description"]) for each in kept["decisions"]] == [
        ("to ol", "We keep  Postgres and make")
    ]


def test_what_comes_from_a_pipe_is_refused_as_nobody_can_read_it_later(nous: Nous, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path, reason in ((tmp_path / "pipe", "is a pipe; workers read a session later"), ("-", "there is no file -")):
        refused = nous("publish", path, stdin=told("otherwords"))
        assert reason in refused.stderr
        assert refused.exit_code == BAD_INPUT
