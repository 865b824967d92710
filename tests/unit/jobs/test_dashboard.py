"""Who may see the dashboard, and from where it may be used."""

import pickle
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner
from fakeredis import FakeRedis
from hypothesis import given
from hypothesis import strategies as st
from rq.job import JOB_ID_PATTERN

from nous.domain.events import SessionEnded
from nous.jobs.base import JobNames, QueueKind, job_id
from nous.pipeline.worker import Worker

pytest.importorskip("rq_dashboard", reason="needs the extra `dashboard`")

from flask import Flask
from rq import Queue
from rq.worker import BaseWorker

from nous.cli import main
from nous.cli.framework import MISCONFIGURED
from nous.domain.errors import Misconfigured
from nous.jobs.rq.dashboard import ACTIONS, build, is_loopback, listen
from nous.jobs.rq.job import FUNCTION
from nous.jobs.rq.queue import queue_named

PAGE = "/0/data/queues.json"
BUTTON = "/queue/some/queued/empty"


@pytest.fixture
def redis() -> Iterator[FakeRedis]:
    with FakeRedis(socket_timeout=415) as client:
        yield client


@pytest.fixture
def app(redis: FakeRedis) -> Flask:
    return build(redis, shown_as="a fake")


def test_a_login_is_asked_for_where_there_is_one(redis: FakeRedis) -> None:
    client = build(redis, shown_as="a fake", login=("ann", "sésame")).test_client()

    answers = [
        client.get("/static/css/main.css").status_code,
        client.get("/nothing").status_code,
        client.get(PAGE).status_code,
        client.get(PAGE, headers=basic("ann", "wrong")).status_code,
        client.get(PAGE, headers=basic("bob", "sésame")).status_code,
        client.get(PAGE, headers=basic("ann", "sésame")).status_code,
    ]

    assert answers == [401, 401, 401, 401, 401, 200]


def test_an_installation_is_shown_the_queues_and_workers_of_its_own(redis: FakeRedis) -> None:
    for name in ("toy", "mine--toy", "theirs--toy-bulk"):
        queue = queue_named(name, redis)
        queue.enqueue(FUNCTION)
        BaseWorker([queue], name=f"{name}-worker", connection=redis).register_birth()

    seen = {prefix: lists(build(redis, shown_as="it", names=JobNames(prefix))) for prefix in ("nous", "mine")}

    assert seen["nous"] == (["toy"], ["toy-worker"])
    assert seen["mine"] == (["mine--toy"], ["mine--toy-worker"])


def lists(app: Flask) -> tuple[list[str], list[str]]:
    """The names of the queues and of the workers that its pages list."""
    client = app.test_client()
    queues, workers = (client.get(f"/0/data/{each}.json").get_json()[each] for each in ("queues", "workers"))
    return [each["name"] for each in queues], [each["name"] for each in workers]


def basic(username: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"}


def test_without_a_login_only_the_names_of_this_machine_are_answered(app: Flask) -> None:
    client = app.test_client()

    assert client.get(PAGE, headers={"Host": "127.0.0.1:9181"}).status_code == 200
    assert client.get(PAGE, headers={"Host": "[::1]:9181"}).status_code == 200
    assert client.get(PAGE, headers={"Host": "rebound.example"}).status_code == 403


@pytest.mark.parametrize(
    ("site", "answer"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_a_button_works_only_from_the_dashboard_itself(app: Flask, site: str, answer: int) -> None:
    client, headers = app.test_client(), {"Sec-Fetch-Site": site}

    assert client.post(BUTTON, headers=headers).status_code == answer
    assert client.get("/requeue/some", headers=headers).status_code == answer
    assert client.get("/", headers=headers).status_code == 200


def test_every_endpoint_that_takes_a_post_counts_as_an_action(app: Flask) -> None:
    posts = {rule.endpoint for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())}

    assert posts == {f"rq_dashboard.{action}" for action in ACTIONS}


def test_what_a_producer_sent_never_becomes_markup(app: Flask, redis: FakeRedis) -> None:
    queue_named("some", redis).enqueue(FUNCTION, job_id="hostile", description="<img src=x onerror=alert(1)>")

    answer = app.test_client().get("/0/data/job/hostile.json").text

    assert "img src=x onerror=alert(1)" in answer
    assert "<" not in answer
    assert ">" not in answer


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.path,)


def test_a_pickled_job_of_another_application_is_refused_and_never_unpickled(
    app: Flask, redis: FakeRedis, tmp_path: Path
) -> None:
    job = Queue("some", connection=redis).enqueue("some.function", job_id="foreign")
    bomb = pickle.dumps(Bomb(tmp_path / "exploded"))
    redis.hset(job.key, mapping={"data": bomb, "meta": bomb, "result": bomb})

    assert app.test_client().get("/0/data/job/foreign.json").status_code == 409
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.8.8.8", True), ("::1", True), ("localhost", True), ("192.168.1.2", False), ("localhost.example", False)],
)
def test_only_what_this_machine_alone_reaches_is_loopback(host: str, *, expected: bool) -> None:
    assert is_loopback(host) == expected


def test_a_taken_port_is_said_to_be_taken(app: Flask) -> None:
    with listen(app, host="127.0.0.1", port=0) as first, pytest.raises(Misconfigured, match=f"port {first.port}"):
        listen(app, host="127.0.0.1", port=first.port)


@pytest.mark.parametrize(
    ("options", "variables", "complaint"),
    [
        (["--host", "0.0.0.0"], {}, "dashboard.password"),  # noqa: S104 - it is refused
        ([], {"NOUS_DASHBOARD__USERNAME": "ann"}, "both, or neither"),
        ([], {"NOUS_DASHBOARD__USERNAME": "ann", "NOUS_DASHBOARD__PASSWORD": ""}, "both, or neither"),
    ],
)
def test_a_host_that_others_reach_is_refused_without_a_whole_login(
    options: list[str], variables: dict[str, str], complaint: str
) -> None:
    ended = CliRunner().invoke(main, ["rq-dashboard", *options], env=variables)

    assert (ended.exit_code, complaint in ended.output) == (MISCONFIGURED, True), ended.output


EVENT = UUID(int=7)

prefixes = st.text("aB7._-", min_size=1, max_size=6) | st.just("nous")
workers = st.from_regex(r"[ab7_]+(-[ab7_]+){0,2}", fullmatch=True)


def names_of(prefix: str, worker: str) -> set[str]:
    names = JobNames(prefix)
    return {*(names.own(line.queue(worker)) for line in QueueKind), names.own_id(job_id(worker, EVENT, 1))}


@given(prefixes, prefixes, workers, workers)
def test_no_name_of_one_installation_is_one_of_another(one: str, other: str, its: str, others: str) -> None:
    if one != other:
        assert names_of(one, its) & names_of(other, others) == set()
        assert JobNames(one).own(its) != JobNames(other).own(others)


@given(prefixes, workers)
def test_rq_takes_the_id_of_every_job(prefix: str, worker: str) -> None:
    assert JOB_ID_PATTERN.fullmatch(JobNames(prefix).own_id(job_id(worker, EVENT, 3)))


@given(prefixes, prefixes, workers)
def test_of_a_job_it_is_known_whose_it_is_and_of_which_attempt(one: str, other: str, worker: str) -> None:
    job = JobNames(one).own_id(job_id(worker, EVENT, 3))

    assert JobNames(one).attempt_of(job) == (worker, EVENT)
    assert one == other or JobNames(other).attempt_of(job) is None


@given(prefixes, prefixes, workers)
def test_of_a_worker_it_is_known_whose_queues_it_serves(one: str, other: str, worker: str) -> None:
    queues = [JobNames(one).own(line.queue(worker)) for line in QueueKind]

    assert JobNames(one).owns_any(queues)
    assert one == other or not JobNames(other).owns_any(queues)


@pytest.mark.parametrize("name", ["", "mine--toy", "-toy", "toy-", "two words", "a.b", "toy\n"])
def test_a_worker_has_no_name_that_could_be_anothers_or_that_rq_passes_over(name: str) -> None:
    build: Any = None

    with pytest.raises(ValueError, match="cannot name a worker"):
        Worker(name, SessionEnded, build)
